-- A statement that waits for no lock of clients, with the privileges of the owner of its table.

DO $block$
BEGIN
  $refuse_superuser$;
  SET LOCAL ROLE $owner$;
  $statement$;
END
$block$
