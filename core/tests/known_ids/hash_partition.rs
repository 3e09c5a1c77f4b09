//! Hashes of keys of tables that are partitioned by hash, as PostgreSQL 15 has computed them.

use mint_core::bytes::hash_partition::{hash_of_number, hash_of_uuid};
use mint_core::{HashPartition, HashPartitionError, Uuid};

/// `SELECT hashint8extended(key, 8816678312871386365)`.
#[test]
fn numbers() {
    for (key, hash) in [
        (0, 0xc2e3_4bda_39f0_f0cd),
        (1, 0x52d6_2105_8124_e6d5),
        (-1, 0xba5f_c748_0956_06c2),
        (42, 0x6632_18bc_fb84_b17f),
        (1 << 32, 0x52d6_2105_8124_e6d5),
        (-1 << 32, 0xc2e3_4bda_39f0_f0cd),
        (i64::MAX, 0x4489_3a0f_1e94_9193),
        (i64::MIN, 0xac09_237e_4899_f89c),
        (850_007_368_138_018_817, 0x6f49_1f5d_a3af_6e5c),
    ] {
        assert_eq!(hash_of_number(key), hash, "{key}");
    }
}

/// `SELECT uuid_hash_extended(key, 8816678312871386365)`.
#[cfg(target_endian = "little")]
#[test]
fn uuids() {
    for (key, hash) in [
        (
            "00000000-0000-0000-0000-000000000000",
            0xb6b5_d3c4_aa5d_92c2,
        ),
        (
            "ffffffff-ffff-ffff-ffff-ffffffffffff",
            0xfdee_b199_9c98_549e,
        ),
        (
            "01890a5d-ac96-774b-bcce-b302099a8057",
            0x3ffa_5ced_18d1_636d,
        ),
        (
            "f81d4fae-7dec-11d0-a765-00a0c91e6bf6",
            0xf727_bb46_6280_fbfd,
        ),
    ] {
        let id: Uuid = key.parse().unwrap();
        assert_eq!(hash_of_uuid(id.into_bytes()), hash, "{key}");
    }
}

/// Each key is of exactly one partition of each modulus, and keys spread evenly.
#[test]
fn partitions() {
    for modulus in [1, 2, 3, 16, 1_000] {
        let mut found = vec![0; modulus as usize];
        for key in 0..20_000 {
            let mut of = (0..modulus).filter(|&remainder| {
                HashPartition::new(modulus, remainder)
                    .unwrap()
                    .has_number(key)
            });
            found[of.next().unwrap() as usize] += 1;
            assert_eq!(of.next(), None);
        }
        let mean = 20_000 / modulus;
        assert!(
            found
                .iter()
                .all(|&keys| keys > mean / 10 && keys < 3 * mean),
            "{found:?}"
        );
    }
    let modulus = HashPartition::new(i32::MAX, 7).unwrap().modulus();
    assert_eq!(modulus, 0x7fff_ffff);
}

#[test]
fn refused() {
    for modulus in [0, -1, i32::MIN] {
        let refused = HashPartition::new(modulus, 0);
        assert_eq!(refused, Err(HashPartitionError::Modulus));
    }
    for (modulus, remainder) in [(1, 1), (4, -1), (4, i32::MAX)] {
        let refused = HashPartition::new(modulus, remainder);
        let modulus = modulus.cast_unsigned();
        let error = HashPartitionError::Remainder { modulus, remainder };
        assert_eq!(refused, Err(error));
    }
}
