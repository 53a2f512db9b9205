-- Deletes the subnets of retired generations.
DELETE FROM subnets WHERE generation IN (SELECT id FROM generations WHERE state = 'retired')
