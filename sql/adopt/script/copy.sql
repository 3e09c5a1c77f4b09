-- The body of the trigger that keeps a shadow equal to its column.

BEGIN NEW.$shadow$ := NEW.$column$; RETURN NEW; END
