-- The retail data as documents: what a task may change (record), and what it started from (origin).
CREATE SCHEMA retail;
CREATE TABLE retail.record (
    kind text NOT NULL,
    id   text NOT NULL,
    body json NOT NULL,  -- json keeps numbers as they were written, jsonb would not
    PRIMARY KEY (kind, id)
);
CREATE TABLE retail.origin (LIKE retail.record INCLUDING ALL);
