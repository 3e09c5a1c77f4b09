# The tables of a shop, converted by migrations: shop.rb before|there|back|check.
require "active_record"

MIGRATION = ActiveRecord::Migration[ActiveRecord.version.segments.first(2).join(".")]
TASKS = ActiveRecord::Tasks::DatabaseTasks
TASKS.db_dir = TASKS.root = Dir.pwd
TASKS.env = "test"
MIGRATION.verbose = false

class Before < MIGRATION
  def change
    create_table(:customer) { |t| t.text :name, null: false }
    create_table(:purchase, id: :serial) do |t|
      t.references :customer, null: false, foreign_key: { to_table: :customer }
      t.text :note, null: false
    end
    create_table(:line) do |t|
      t.references :purchase, type: :integer, null: false, foreign_key: { to_table: :purchase }
      t.integer :amount, null: false
    end
  end
end

class ConvertCustomer < MIGRATION
  def up
    execute "SELECT mint.convert('customer', 'id', 'snowflake_next_id(5)', lock_timeout => '500 ms', retries => 20)"
  end

  def down
    execute "SELECT mint.convert_revert('customer', 'id', lock_timeout => '500 ms', retries => 20)"
  end
end

class Customer < ActiveRecord::Base
  self.table_name = "customer"
end

class Purchase < ActiveRecord::Base
  self.table_name = "purchase"
  belongs_to :customer
end

class Line < ActiveRecord::Base
  self.table_name = "line"
  belongs_to :purchase
end

def open(database)
  place = { adapter: "postgresql", host: ENV["PGHOST"], port: ENV["PGPORT"], username: ENV["PGUSER"] }
  ActiveRecord::Base.configurations = { "test" => place.merge(database: database) }
  @config = ActiveRecord::Base.configurations.configs_for(env_name: "test").first
  ActiveRecord::Base.establish_connection(@config)
end

def dump
  ENV["SCHEMA"] = "shop_schema.rb"
  TASKS.dump_schema(@config)
  File.read("shop_schema.rb")
end

# What is dumped makes the same tables elsewhere, where rows get ids of the same kind.
def check
  schema = dump
  keys = schema.scan(/create_table "(\w+)"(?:, id: :bigint)?, default: -> \{ "snowflake_next_id\(5\)" \}/).flatten
  raise "keys in #{schema}" unless keys == %w[customer purchase]
  open "#{ENV["PGDATABASE"]}_loaded"
  TASKS.load_schema(@config)
  raise "another schema" unless dump == schema
  purchase = Purchase.create!(customer: Customer.create!(name: "new"), note: "new")
  line = Line.create!(purchase: purchase, amount: 1)
  raise "ids #{line.inspect}" unless [purchase.id, purchase.customer_id, line.purchase_id].all? { |id| id > 2**60 }
end

open ENV["PGDATABASE"]
connection = ActiveRecord::Base.connection
case ARGV[0]
when "before" then Before.new.exec_migration(connection, :up)
when "there" then ConvertCustomer.new.exec_migration(connection, :up)
when "back" then ConvertCustomer.new.exec_migration(connection, :down)
else check
end
