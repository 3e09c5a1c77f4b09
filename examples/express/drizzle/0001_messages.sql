CREATE TABLE "author" (
	"id" bigint PRIMARY KEY DEFAULT snowflake_next_id(5) NOT NULL,
	"name" text NOT NULL,
	CONSTRAINT "author_name_unique" UNIQUE("name")
);
--> statement-breakpoint
CREATE TABLE "message" (
	"id" bigint PRIMARY KEY DEFAULT snowflake_next_id(5) NOT NULL,
	"author_id" bigint NOT NULL,
	"body" text NOT NULL
);
--> statement-breakpoint
ALTER TABLE "message" ADD CONSTRAINT "message_author_id_author_id_fk" FOREIGN KEY ("author_id") REFERENCES "public"."author"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "message_author_id_index" ON "message" USING btree ("author_id");