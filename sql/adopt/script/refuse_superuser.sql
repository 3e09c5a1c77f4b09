-- What each block begins with. A function of another role that runs in it could reset the role that the block sets, or the
-- session's user, and be what has connected. $first$ is what is done before the error.

IF pg_catalog.current_setting('mint_script.trusted'::pg_catalog.text, true) OPERATOR(pg_catalog.=) 'on'::pg_catalog.text IS NOT TRUE AND EXISTS (
    SELECT FROM pg_catalog.pg_roles AS r JOIN pg_catalog.pg_roles AS s ON s.rolname OPERATOR(pg_catalog.=) SESSION_USER OR s.oid OPERATOR(pg_catalog.=) ANY (SELECT b.usesysid FROM pg_catalog.pg_stat_get_activity(pg_catalog.pg_backend_pid()) AS b)
    WHERE r.rolsuper AND pg_catalog.pg_has_role(s.oid, r.oid, 'MEMBER'::pg_catalog.text) AND NOT pg_catalog.pg_has_role($literal$::pg_catalog.regrole::pg_catalog.oid, r.oid, 'MEMBER'::pg_catalog.text)) THEN$first$
    RAISE EXCEPTION 'cannot run the script as a superuser for tables of role "%"', pg_catalog.pg_get_userbyid($literal$::pg_catalog.regrole) USING ERRCODE = 'insufficient_privilege',
      DETAIL = 'A function of the owner, of a role with the privilege TRIGGER on a table, or of the owner of its schema could act as the superuser.',
      HINT = 'Connect as the owner, or as a member of it that cannot become a superuser. If you trust these roles, use SET mint_script.trusted = ''on''.';
  END IF
