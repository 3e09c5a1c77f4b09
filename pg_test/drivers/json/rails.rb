# Prints a message as JSON, and reads it back.
require "active_record"

place = { host: ENV["PGHOST"], port: ENV["PGPORT"], username: ENV["PGUSER"], database: ENV["PGDATABASE"] }
ActiveRecord::Base.establish_connection(adapter: "postgresql", **place)

class ApplicationRecord < ActiveRecord::Base
  self.abstract_class = true

  def serializable_hash(*) = super.to_h { [_1, _1.match?(/\A(.+_)?id\z/) ? _2&.to_s : _2] }
end

class Author < ApplicationRecord
  self.table_name = "author"
end

class Message < ApplicationRecord
  self.table_name = "message"
  belongs_to :author
end

message = Message.first
puts message.to_json
raise "to_json has the author's id as a number" unless message.as_json(include: :author)["author"]["id"] == ENV["AUTHOR"]
raise "the id is not read back" unless Message.new(JSON.parse(message.to_json)).author_id == Integer(ENV["AUTHOR"])
