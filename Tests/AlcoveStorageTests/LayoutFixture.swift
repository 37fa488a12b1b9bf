import CSQLite
import Testing

/// A database as an earlier Alcove left it: the SQL it was made with, word for word, and some content.
struct LayoutFixture: Sendable {
    let layout: Int
    let script: String

    static let all = [
        LayoutFixture(layout: 1, script: layout1 + content),
        LayoutFixture(layout: 2, script: layout1 + layout2 + content + turnContent),
    ]

    private static let layout2 = """
        CREATE TABLE turns (
            number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, chat INTEGER REFERENCES chats (number) ON DELETE CASCADE,
            profile TEXT NOT NULL, state TEXT NOT NULL, started_at INTEGER NOT NULL, finished_at INTEGER, reason TEXT,
            progress TEXT) STRICT;
        CREATE INDEX turns_of_chat ON turns (chat, number);
        CREATE INDEX turns_running ON turns (number) WHERE state = 'running';
        CREATE TABLE turn_events (
            turn INTEGER NOT NULL REFERENCES turns (number) ON DELETE CASCADE, seq INTEGER NOT NULL, at INTEGER NOT NULL,
            kind TEXT NOT NULL, payload TEXT NOT NULL, PRIMARY KEY (turn, seq)) STRICT, WITHOUT ROWID;
        CREATE TABLE receipts (
            number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, turn INTEGER REFERENCES turns (number) ON DELETE SET NULL,
            tool TEXT NOT NULL, arguments TEXT NOT NULL, signature TEXT NOT NULL, effect TEXT NOT NULL,
            outcome TEXT NOT NULL, observation TEXT, started_at INTEGER NOT NULL, finished_at INTEGER NOT NULL,
            extras TEXT) STRICT;
        CREATE INDEX receipts_of_turn ON receipts (turn, number);
        PRAGMA user_version = 2;
        """

    /// A turn that had ended, with a receipt.
    private static let turnContent = """
        INSERT INTO turns VALUES (1, 'fedcba9876543210fedcba9876543210', 1, 'agent', 'completed', 1000, 2000, NULL, NULL);
        INSERT INTO turn_events VALUES (1, 0, 1000, 'text', '{"text":"hi"}');
        INSERT INTO receipts VALUES (1, '00112233445566778899aabbccddeeff', 1, 'shell', '{}', 'ab', 'runs_code', 'succeeded',
            'done', 1000, 1001, '{"colour":"green"}');
        """

    /// A name, unknown members, bytes that are not UTF-8, a message without role and with content of another type.
    private static let content = """
        INSERT INTO chats VALUES (1, '0123456789abcdef0123456789abcdef', 'Named by hand', 'hello wide world', 1000, 2000,
            'old-model', 1, '["pdf"]', 1, '{"needsCacheReset":true,"colour":"green"}');
        INSERT INTO messages VALUES (1, 1, 0, 'first', 'user', 'hello wide world', NULL, 1000, '{"imagePaths":[]}');
        INSERT INTO messages VALUES (2, 1, 1, 'second', 'assistant', CAST(x'62616420FF206279746573' AS TEXT), 'hm', 1500,
            NULL);
        INSERT INTO messages VALUES (3, 1, 2, 'third', NULL, NULL, NULL, 1600, '{"content":[1,2]}');
        """

    private static let layout1 = """
        PRAGMA auto_vacuum=INCREMENTAL; PRAGMA journal_mode=WAL;
        CREATE TABLE chats (
            number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, name TEXT, title TEXT NOT NULL,
            created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, model TEXT, think INTEGER, skills TEXT,
            skills_explicit INTEGER NOT NULL DEFAULT 0, extras TEXT) STRICT;
        CREATE INDEX chats_newest_first ON chats (updated_at DESC, number DESC);
        CREATE TABLE messages (
            number INTEGER PRIMARY KEY, chat INTEGER NOT NULL REFERENCES chats (number) ON DELETE CASCADE,
            position INTEGER NOT NULL, id TEXT NOT NULL, role TEXT, content TEXT, thinking TEXT,
            created_at INTEGER NOT NULL, extras TEXT, UNIQUE (chat, position), UNIQUE (chat, id)) STRICT;
        CREATE VIRTUAL TABLE message_index USING fts5 (
            content, content = 'messages', content_rowid = 'number', tokenize = 'trigram');
        CREATE TRIGGER messages_indexed AFTER INSERT ON messages WHEN new.content IS NOT NULL BEGIN
            INSERT INTO message_index (rowid, content) VALUES (new.number, new.content); END;
        CREATE TRIGGER messages_unindexed AFTER DELETE ON messages WHEN old.content IS NOT NULL BEGIN
            INSERT INTO message_index (message_index, rowid, content) VALUES ('delete', old.number, old.content); END;
        CREATE TRIGGER messages_reindexed AFTER UPDATE OF content ON messages BEGIN
            INSERT INTO message_index (message_index, rowid, content)
                SELECT 'delete', old.number, old.content WHERE old.content IS NOT NULL;
            INSERT INTO message_index (rowid, content)
                SELECT new.number, new.content WHERE new.content IS NOT NULL; END;
        CREATE TABLE settings (key TEXT PRIMARY KEY, value TEXT NOT NULL, updated_at INTEGER NOT NULL)
            STRICT, WITHOUT ROWID;
        CREATE TABLE notices (number INTEGER PRIMARY KEY, created_at INTEGER NOT NULL, kind TEXT NOT NULL,
            message TEXT NOT NULL, details TEXT, shown_at INTEGER) STRICT;
        PRAGMA application_id = 1097622390;
        PRAGMA user_version = 1;
        """
}

/// SQLite by itself, without our set-up.
final class SQLiteFixture {
    private var raw: OpaquePointer?

    init(path: String) throws { try #require(sqlite3_open(path, &raw) == SQLITE_OK) }

    deinit { sqlite3_close(raw) }

    func execute(_ script: String) throws {
        try #require(sqlite3_exec(raw, script, nil, nil, nil) == SQLITE_OK, "\(String(cString: sqlite3_errmsg(raw)))")
    }

    func integer(_ query: String) throws -> Int {
        var statement: OpaquePointer?
        defer { sqlite3_finalize(statement) }
        try #require(sqlite3_prepare_v2(raw, query, -1, &statement, nil) == SQLITE_OK)
        try #require(sqlite3_step(statement) == SQLITE_ROW)
        return Int(sqlite3_column_int64(statement, 0))
    }
}
