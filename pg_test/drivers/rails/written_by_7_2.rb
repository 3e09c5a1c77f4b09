# The statements of Rails 7.2 for a database with the extension and a registry, as a Rails of any version can run them.
ActiveRecord::Schema.define(version: 0) do
  create_schema "mint"

  # These are extensions that must be enabled in order to support this database
  enable_extension "pg_mint"
  enable_extension "plpgsql"

  create_table "messages", id: :bigint, default: -> { "snowflake_next_id(5)" }, force: :cascade do |t|
    t.text "body", null: false
  end
end
