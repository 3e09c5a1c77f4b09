//! Order, hash and sort support of the type `objectid`.

use crate::pg::datum::fixed_order::order_functions;

order_functions!("objectid", mint_core::ObjectId::BYTES);
