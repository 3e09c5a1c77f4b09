# db:schema:dump, db:schema:load and db:truncate_all of Rails, by the calls of ActiveRecord's Rake tasks.
require "active_record"

VERSION = ActiveRecord.version.segments.first(2).join(".")
MIGRATION = ActiveRecord::Migration[VERSION]
TASKS = ActiveRecord::Tasks::DatabaseTasks
TASKS.db_dir = TASKS.root = Dir.pwd
TASKS.env = "test"
MIGRATION.verbose = false

class CreateIds < MIGRATION
  def change
    enable_extension "pg_mint"
    create_table :messages, id: :bigint, default: -> { "snowflake_next_id(5)" } do |t|
      t.text :body, null: false
    end
    create_table :events, id: :uuid, default: -> { "uuid_v7()" }
    create_table :tweets, id: :bigint, default: -> { "snowflake_next_id(5, 'twitter')" }
  end
end

class Message < ActiveRecord::Base
end

class Event < ActiveRecord::Base
end

class Item < ActiveRecord::Base
end

# Connects to one of the databases that check.sh made.
def open(number)
  place = { adapter: "postgresql", host: ENV["PGHOST"], port: ENV["PGPORT"], username: ENV["PGUSER"] }
  ActiveRecord::Base.configurations = { "test" => place.merge(database: "rails_#{number}") }
  @config = ActiveRecord::Base.configurations.configs_for(env_name: "test").first
  ActiveRecord::Base.establish_connection(@config)
  Message.reset_column_information
end

def dump
  ENV["SCHEMA"] = "schema.rb"
  TASKS.dump_schema(@config)
  File.read("schema.rb")
end

def load_schema(file)
  ENV["SCHEMA"] = file
  TASKS.load_schema(@config)
  id = Message.create!(body: "hello").id
  raise "a row has the id #{id}" unless id > 2**60
end

def created(schema)
  schema.scan(/create_(?:table|view) "([\w.]+)"/).flatten.sort
end

def registries
  ActiveRecord::Base.connection.select_value("SELECT count(*) FROM mint.registry")
end

def make_registry
  ActiveRecord::Base.connection.execute("SELECT mint.registry_create()")
  registries
end

# Rows of the application.
def rows
  one = Message.create!(body: "hello")
  point("insert one", true) { one.id > 2**60 && Event.create!.id[14] == "7" }
  ids = nil
  point("insert many", 100) do
    ids = Message.insert_all!(Array.new(100) { |n| { body: "hello #{n}" } }, returning: :id).rows.flatten
    ids.uniq.size
  end
  point("read back", "hello 7") { Message.find(ids[7]).body }
  point("range by time", [101, 0]) do
    now = Time.now
    [[now - 60, now + 60], [now - 86_400, now - 60]].map do |since, till|
      Message.where(id: one.id..).where("snowflake_between(id, ?, ?)", since.utc, till.utc).count
    end
  end
  point("layout as a parameter", true) do
    query = ["SELECT snowflake_time(snowflake_next_id(?, ?), ?) > now() - interval '1 minute'", 5, "twitter", "twitter"]
    ActiveRecord::Base.connection.select_value(ActiveRecord::Base.sanitize_sql(query))
  end
  # Not by create_table: schema.rb has no types that Rails does not know.
  ActiveRecord::Base.connection.execute("CREATE TABLE items (id objectid PRIMARY KEY DEFAULT objectid(), name text)")
  point("objectid", "lamp") { Item.find(Item.create!(name: "lamp").id).name }
end

# Prints a point that holds where the block returns what is wanted, or ends without an error if nothing is.
def point(text, wanted = nil)
  found = yield
  holds = wanted.nil? || found == wanted
  puts holds ? "ok #{VERSION}, #{text}" : "not ok #{VERSION}, #{text}: #{found.inspect[0, 200]}"
rescue StandardError => error
  puts "not ok #{VERSION}, #{text}: #{error.message.lines.first}"
end

# The database that has the migrations is a registry as well.
open 1
point("create") { CreateIds.new.exec_migration(ActiveRecord::Base.connection, :up) }
make_registry
schema = dump
point("schema.rb has the application's tables and no other", %w[events messages tweets]) { created(schema) }
point("the default is as it was written", ['"snowflake_next_id(5)"']) { schema.scan(/"messages".*("snowflake_next_id.*?")/).flatten }
point("db:truncate_all leaves the registry", 1) do
  TASKS.truncate_all
  registries
end
[2, 3].each do |number|
  open number
  point("db:schema:load into empty database #{number}") { load_schema("schema.rb") }
  point("schema check#{" again" if number == 3}: db:schema:dump writes the same of database #{number}", schema) { dump }
  point("database #{number} can be made a registry", 1) { make_registry }
end
rows
open 4
point("what Rails 7.2 writes loads, and is dumped with the application's table only", %w[messages]) do
  load_schema("written_by_7_2.rb")
  created(dump)
end
point("its database can be made a registry", 1) { make_registry }
