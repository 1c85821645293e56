-- The clinic's own tables. One place is given to one patient at a time.
CREATE SCHEMA clinic;

CREATE TABLE clinic.department (
    department text PRIMARY KEY,
    needs_referral boolean NOT NULL DEFAULT false
);

CREATE TABLE clinic.doctor (
    doctor_id integer PRIMARY KEY,
    department text NOT NULL REFERENCES clinic.department,
    doctor_zh text NOT NULL,
    doctor_en text NOT NULL
);

CREATE TABLE clinic.slot (
    slot_no text PRIMARY KEY,
    doctor_id integer NOT NULL REFERENCES clinic.doctor,
    starts_at timestamptz NOT NULL
);

CREATE SEQUENCE clinic.appointment_serial START 20001;

CREATE TABLE clinic.appointment (
    appointment_no text PRIMARY KEY,
    user_id text NOT NULL,
    slot_no text NOT NULL REFERENCES clinic.slot,
    status text NOT NULL CHECK (status IN ('booked', 'cancelled', 'attended')),
    reason text NOT NULL,
    contact text NOT NULL,
    idempotency_key text UNIQUE,
    booked_at timestamptz NOT NULL
);
CREATE INDEX appointment_user ON clinic.appointment (user_id);
CREATE UNIQUE INDEX appointment_place ON clinic.appointment (slot_no) WHERE status <> 'cancelled';
