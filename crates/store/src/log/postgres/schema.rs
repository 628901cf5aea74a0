//! The tables, and their versions. The first writer creates them or brings them to the newest version; a reader changes
//! nothing.

use tokio_postgres::{Client, Error, GenericClient};

/// `MIGRATIONS[n]` leads from version n to version n + 1. Released migrations are never edited.
const MIGRATIONS: [&str; 3] = [
    "
    CREATE TABLE league.event (
        league text COLLATE \"C\" NOT NULL,
        seq bigint NOT NULL CHECK (seq > 0),
        hash bytea NOT NULL,
        body text NOT NULL,
        written timestamptz NOT NULL DEFAULT clock_timestamp(),
        PRIMARY KEY (league, seq)
    );
    CREATE TABLE league.lease (
        league text COLLATE \"C\" PRIMARY KEY,
        holder text NOT NULL,
        epoch bigint NOT NULL CHECK (epoch > 0),
        expires_at timestamptz NOT NULL
    );",
    "
    ALTER TABLE league.lease ADD COLUMN url text, ADD COLUMN relay_key text;
    CREATE TABLE league.credential (
        league text COLLATE \"C\" NOT NULL,
        role text NOT NULL,
        digest text NOT NULL,
        PRIMARY KEY (league, role)
    );",
    "
    CREATE TABLE league.transcript (
        league text COLLATE \"C\" NOT NULL,
        match_id text COLLATE \"C\" NOT NULL,
        digest text COLLATE \"C\" NOT NULL,
        body text NOT NULL,
        PRIMARY KEY (league, match_id, digest)
    );",
];

pub(super) const VERSION: i64 = MIGRATIONS.len() as i64;

/// Any number that no other program locks.
const MIGRATION_LOCK: i64 = 0x6c65_6167_7565;

/// 0 where no league was ever written.
pub(super) async fn version(client: &impl GenericClient) -> Result<i64, Error> {
    let found = client.query_one("SELECT to_regclass('league.schema_version') IS NOT NULL", &[]).await?;
    if !found.get::<_, bool>(0) {
        return Ok(0);
    }
    Ok(client.query_one("SELECT coalesce(max(version), 0) FROM league.schema_version", &[]).await?.get(0))
}

/// Returns the version that is there afterwards; a newer one than [`VERSION`] is left as it is.
pub(super) async fn migrate(client: &mut Client) -> Result<i64, Error> {
    let found = version(&*client).await?;
    if found >= VERSION {
        return Ok(found);
    }
    // Dropping it rolls it back, so that an interrupted migration leaves no transaction open on a connection of the pool.
    let transaction = client.transaction().await?;
    // The lock is held until the end of the transaction: managers that start together migrate one after the other.
    transaction.batch_execute(&format!("SELECT pg_advisory_xact_lock({MIGRATION_LOCK})")).await?;
    let migrated = migrate_locked(&transaction).await?;
    transaction.commit().await?;
    Ok(migrated)
}

async fn migrate_locked(client: &impl GenericClient) -> Result<i64, Error> {
    let found = version(client).await?;
    if found == 0 {
        let create =
            "CREATE SCHEMA IF NOT EXISTS league; CREATE TABLE league.schema_version (version bigint PRIMARY KEY)";
        client.batch_execute(create).await?;
    }
    for (migration, version) in MIGRATIONS.iter().zip(1..).skip(usize::try_from(found).unwrap_or(usize::MAX)) {
        client.batch_execute(migration).await?;
        client.execute("INSERT INTO league.schema_version VALUES ($1)", &[&i64::from(version)]).await?;
    }
    version(client).await
}
