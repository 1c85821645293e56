-- Departments, doctors, places every half hour of four weeks, and some appointments.
INSERT INTO clinic.department VALUES ('general', false), ('dental', false), ('skin', false), ('heart', true);

INSERT INTO clinic.doctor VALUES
    (1, 'general', '周医生', 'Dr Zhou'),
    (2, 'dental', '林医生', 'Dr Lin'),
    (3, 'skin', '贝克医生', 'Dr Baker'),
    (4, 'heart', '沈医生', 'Dr Shen');

INSERT INTO clinic.slot
SELECT 'S-' || doctor_id || lpad((row_number() OVER (PARTITION BY doctor_id ORDER BY starts_at))::text, 3, '0'),
       doctor_id,
       starts_at
  FROM clinic.doctor,
       generate_series(
           timestamptz '2024-05-27 09:00+08', timestamptz '2024-06-21 16:30+08', interval '30 minutes'
       ) AS starts_at
 WHERE extract(hour FROM starts_at AT TIME ZONE 'Asia/Shanghai') BETWEEN 9 AND 16
   AND extract(isodow FROM starts_at AT TIME ZONE 'Asia/Shanghai') <= 5;

INSERT INTO clinic.appointment VALUES
    ('AP-10482', 'patient_7', 'S-2021', 'booked', 'check-up', '13900007777', NULL, '2024-05-20 10:00+08'),
    ('AP-10377', 'patient_7', 'S-1001', 'attended', 'cough', '13900007777', NULL, '2024-05-14 10:00+08'),
    ('AP-10499', 'patient_8', 'S-3005', 'booked', 'rash', '13900008888', NULL, '2024-05-21 10:00+08');
