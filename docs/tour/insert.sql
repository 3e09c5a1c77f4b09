-- What each of the tour's sessions does, again and again: a transaction of ten rows.
INSERT INTO message (body)
SELECT 'row ' || n FROM generate_series(1, 10) n;
