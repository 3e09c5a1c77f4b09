-- A statement that waits for no lock of clients, with the privileges of the owner of its table.

DO $block$
BEGIN
  SET LOCAL ROLE $owner$;
  $statement$;
END
$block$
