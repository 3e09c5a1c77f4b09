-- A statement that waits for no lock of clients, with the privileges of the owner of its table.

DO $block$
BEGIN
  $refuse_superuser$;
  SET LOCAL ROLE $owner$;
  LOCK TABLE $table$ IN SHARE UPDATE EXCLUSIVE MODE;
  $refuse_replaced$;
  $statement$;
END
$block$
