/// The tables, as steps from each layout to the next.
///
/// A step that has been released is never edited: people have databases that took it. A step never drops what it cannot
/// read.
enum Schema {
    /// "Alcv": tells our database from other programs' (https://www.sqlite.org/pragma.html#pragma_application_id).
    static let applicationID: Int64 = 0x416C_6376

    /// Layout this program writes.
    static var version: Int { steps.count }

    /// Step n makes layout n + 1 out of layout n.
    static let steps = [chatsAndSettings, turnsAndReceipts, keptItems]
}

extension Schema {
    /// Layout 1.
    ///
    /// Times are milliseconds since 1970 in UTC. `extras` holds, as a JSON object, the members of a chat or message that
    /// have no column, exactly as they came. A chat's `name` is what the person called it, `title` what we made up.
    private static let chatsAndSettings = """
        CREATE TABLE chats (
            number INTEGER PRIMARY KEY,
            id TEXT NOT NULL UNIQUE,
            name TEXT,
            title TEXT NOT NULL,
            created_at INTEGER NOT NULL,
            updated_at INTEGER NOT NULL,
            model TEXT,
            think INTEGER,
            skills TEXT,
            skills_explicit INTEGER NOT NULL DEFAULT 0,
            extras TEXT
        ) STRICT;
        CREATE INDEX chats_newest_first ON chats (updated_at DESC, number DESC);

        CREATE TABLE messages (
            number INTEGER PRIMARY KEY,
            chat INTEGER NOT NULL REFERENCES chats (number) ON DELETE CASCADE,
            position INTEGER NOT NULL,
            id TEXT NOT NULL,
            role TEXT,
            content TEXT,
            thinking TEXT,
            created_at INTEGER NOT NULL,
            extras TEXT,
            UNIQUE (chat, position),
            UNIQUE (chat, id)
        ) STRICT;

        -- Three letters at a time: finds parts of words, and works for scripts that put no space between them.
        CREATE VIRTUAL TABLE message_index USING fts5 (
            content, content = 'messages', content_rowid = 'number', tokenize = 'trigram'
        );
        CREATE TRIGGER messages_indexed AFTER INSERT ON messages WHEN new.content IS NOT NULL BEGIN
            INSERT INTO message_index (rowid, content) VALUES (new.number, new.content);
        END;
        CREATE TRIGGER messages_unindexed AFTER DELETE ON messages WHEN old.content IS NOT NULL BEGIN
            INSERT INTO message_index (message_index, rowid, content) VALUES ('delete', old.number, old.content);
        END;
        CREATE TRIGGER messages_reindexed AFTER UPDATE OF content ON messages BEGIN
            INSERT INTO message_index (message_index, rowid, content)
                SELECT 'delete', old.number, old.content WHERE old.content IS NOT NULL;
            INSERT INTO message_index (rowid, content)
                SELECT new.number, new.content WHERE new.content IS NOT NULL;
        END;

        CREATE TABLE settings (
            key TEXT PRIMARY KEY,
            value TEXT NOT NULL,
            updated_at INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE notices (
            number INTEGER PRIMARY KEY,
            created_at INTEGER NOT NULL,
            kind TEXT NOT NULL,
            message TEXT NOT NULL,
            details TEXT,
            shown_at INTEGER
        ) STRICT;

        PRAGMA application_id = \(applicationID);
        """
}

extension Schema {
    /// Layout 2.
    ///
    /// A turn's events are the whole of what happened in it, in order and without gaps; every surface is rebuilt from
    /// them. A turn goes with its chat. A receipt stays when its turn goes: what was done outside the chat remains done.
    private static let turnsAndReceipts = """
        CREATE TABLE turns (
            number INTEGER PRIMARY KEY,
            id TEXT NOT NULL UNIQUE,
            chat INTEGER REFERENCES chats (number) ON DELETE CASCADE,
            profile TEXT NOT NULL,
            state TEXT NOT NULL,
            started_at INTEGER NOT NULL,
            finished_at INTEGER,
            reason TEXT,
            progress TEXT
        ) STRICT;
        CREATE INDEX turns_of_chat ON turns (chat, number);
        CREATE INDEX turns_running ON turns (number) WHERE state = 'running';

        CREATE TABLE turn_events (
            turn INTEGER NOT NULL REFERENCES turns (number) ON DELETE CASCADE,
            seq INTEGER NOT NULL,
            at INTEGER NOT NULL,
            kind TEXT NOT NULL,
            payload TEXT NOT NULL,
            PRIMARY KEY (turn, seq)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE receipts (
            number INTEGER PRIMARY KEY,
            id TEXT NOT NULL UNIQUE,
            turn INTEGER REFERENCES turns (number) ON DELETE SET NULL,
            tool TEXT NOT NULL,
            arguments TEXT NOT NULL,
            signature TEXT NOT NULL,
            effect TEXT NOT NULL,
            outcome TEXT NOT NULL,
            observation TEXT,
            started_at INTEGER NOT NULL,
            finished_at INTEGER NOT NULL,
            extras TEXT
        ) STRICT;
        CREATE INDEX receipts_of_turn ON receipts (turn, number);
        """
}

extension Schema {
    /// Layout 3.
    ///
    /// Knowledge, memories, tasks and handoffs. `words` are the item's words as search knows them (`KeptWords`), with the
    /// pairs of characters that trigrams cannot find; it is what `kept_words` indexes. A word never holds an ASCII
    /// separator, so the plainest tokenizer cuts exactly at the spaces. `provenance` is JSON and no reference: where
    /// something came from stays true when its chat is gone.
    private static let keptItems = """
        CREATE TABLE kept (
            number INTEGER PRIMARY KEY,
            id TEXT NOT NULL UNIQUE,
            kind TEXT NOT NULL,
            type TEXT,
            title TEXT NOT NULL,
            content TEXT NOT NULL,
            state TEXT,
            provenance TEXT,
            created_at INTEGER NOT NULL,
            updated_at INTEGER NOT NULL,
            finished_at INTEGER,
            words TEXT NOT NULL,
            extras TEXT
        ) STRICT;
        CREATE INDEX kept_of_kind ON kept (kind, state, number);

        CREATE VIRTUAL TABLE kept_words USING fts5 (
            words, content = 'kept', content_rowid = 'number', tokenize = 'ascii', detail = none
        );
        CREATE VIRTUAL TABLE kept_letters USING fts5 (
            title, content, content = 'kept', content_rowid = 'number', tokenize = 'trigram'
        );
        CREATE TRIGGER kept_indexed AFTER INSERT ON kept BEGIN
            INSERT INTO kept_words (rowid, words) VALUES (new.number, new.words);
            INSERT INTO kept_letters (rowid, title, content) VALUES (new.number, new.title, new.content);
        END;
        CREATE TRIGGER kept_unindexed AFTER DELETE ON kept BEGIN
            INSERT INTO kept_words (kept_words, rowid, words) VALUES ('delete', old.number, old.words);
            INSERT INTO kept_letters (kept_letters, rowid, title, content)
                VALUES ('delete', old.number, old.title, old.content);
        END;
        CREATE TRIGGER kept_reindexed AFTER UPDATE OF title, content, words ON kept BEGIN
            INSERT INTO kept_words (kept_words, rowid, words) VALUES ('delete', old.number, old.words);
            INSERT INTO kept_letters (kept_letters, rowid, title, content)
                VALUES ('delete', old.number, old.title, old.content);
            INSERT INTO kept_words (rowid, words) VALUES (new.number, new.words);
            INSERT INTO kept_letters (rowid, title, content) VALUES (new.number, new.title, new.content);
        END;
        """
}
