-- Deletes the companies of retired generations.
DELETE FROM companies WHERE generation IN (SELECT id FROM generations WHERE state = 'retired')
