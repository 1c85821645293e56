-- What can do harm when it is overlooked is handed to every turn beside what fits it; see memory/constraints.py.
ALTER TABLE user_memory ADD COLUMN constrains text CHECK (constrains IN ('health', 'contact'));
COMMENT ON COLUMN user_memory.constrains IS
    'What the memory is a constraint on: what is good for the person, or how to reach them; null: none.';

-- Those written so far, by the plainest words.
UPDATE user_memory SET constrains = 'health'
 WHERE superseded_by IS NULL
   AND content ~* '过敏|不耐受|糖尿病|高血压|哮喘|怀孕|\mallerg|\mintoleran|\mdiabet|\masthma|\mpregnan'
   AND content !~* '不过敏|没有|没怀孕|\mnot\M|\mno\M|n''t\M';

CREATE INDEX user_memory_constraint ON user_memory (user_id)
 WHERE constrains IS NOT NULL AND superseded_by IS NULL;
