# Clients of JavaScript that compare no schemas: the same of each.
use_node
tested_with "Knex $(version_of knex), Kysely $(version_of kysely), postgres.js $(version_of postgres), Sequelize $(version_of sequelize) with node-postgres $(version_of pg)"
for client in knex kysely postgres sequelize; do
    report node program.js "$client"
    sql 'DROP TABLE message, item; DROP EXTENSION pg_mint'
done
