//! How a league lasts: the event log, views as files, logs.
