#if SwiftOperationPostgreSQL && os(Linux)
  import Foundation
  import Testing

  /// PgBouncer before a server of the tests, in its transaction mode, on a socket of a temporary folder.
  ///
  /// A shell keeps it, and stops it when this process ends, however it ends.
  final class Pooler: Sendable {
    /// The program; nil where it is not installed.
    static let program = ["/usr/sbin/pgbouncer", "/usr/bin/pgbouncer", "/usr/local/bin/pgbouncer"].first {
      FileManager.default.isExecutableFile(atPath: $0)
    }

    private let folder: String
    private let process = Process()
    private let commands = Pipe()

    /// Starts a pooler.
    ///
    /// - Parameters:
    ///   - server: The server whose sessions it shares. It has the database `postgres` only.
    ///   - sessions: The number of its sessions.
    ///   - settings: Further settings.
    /// - Throws: A `Failure` with the log if it does not start.
    init(before server: DatabaseServer, sessions: Int, settings: [String] = []) async throws {
      self.folder = (NSTemporaryDirectory() as NSString).appendingPathComponent("pgb-\(UInt32.random(in: 0...(.max)))")
      try FileManager.default.createDirectory(atPath: self.folder, withIntermediateDirectories: true)
      let own = [
        "listen_addr=", "listen_port=6432", "unix_socket_dir=\(self.folder)", "auth_type=trust",
        "pool_mode=transaction",
        "auth_file=\(self.folder)/users", "default_pool_size=\(sessions)", "logfile=\(self.folder)/log",
      ]
      let database = "[databases]\npostgres = host=\(server.folder) port=\(server.port)\n[pgbouncer]\n"
      let file = database + (own + settings).joined(separator: "\n") + "\n"
      try file.write(toFile: self.folder + "/ini", atomically: true, encoding: .utf8)
      try "\"owner\" \"\"\n".write(toFile: self.folder + "/users", atomically: true, encoding: .utf8)
      DatabaseServer.giveAway(self.folder)
      let answers = Pipe()
      self.process.executableURL = URL(fileURLWithPath: "/bin/sh")
      self.process.arguments = ["-c", Self.script, "pooler", Self.program ?? "", self.folder]
      self.process.standardInput = self.commands
      self.process.standardOutput = answers
      self.process.standardError = FileHandle.nullDevice
      try self.process.run()
      let answer = try await inThread { [handle = answers.fileHandleForReading] in
        try handle.read(upToCount: 1) ?? Data()
      }
      guard answer == Data("+".utf8) else {
        let log = try? String(contentsOfFile: self.folder + "/log", encoding: .utf8)
        throw DatabaseServer.Failure(description: "the pooler did not start: \(log ?? "no log")")
      }
    }

    deinit {
      try? self.commands.fileHandleForWriting.close()
    }

    /// The connection string of a database behind the pooler.
    func connection(user: String = "owner", database: String = "postgres") -> String {
      "host=\(self.folder) port=6432 user=\(user) dbname=\(database)"
    }

    private static let script = """
      as=
      [ "$(id -u)" != 0 ] || as='setpriv --reuid=65534 --regid=65534 --clear-groups'
      $as "$1" -q "$2/ini" >/dev/null 2>&1 </dev/null &
      pid=$!
      until [ -S "$2/.s.PGSQL.6432" ]; do kill -0 $pid 2>/dev/null || { echo -; exit; }; sleep 0.05; done
      echo +
      read -r nothing
      # It has nothing to lose, and a test process may have started it with other signals blocked.
      kill -9 $pid
      wait $pid
      rm -rf "$2"
      """
  }

  extension Trait where Self == ConditionTrait {
    /// Runs the test where PgBouncer is installed.
    static var needsPooler: Self {
      .enabled(if: Pooler.program != nil, "PgBouncer is not installed (Debian: apt-get install pgbouncer).")
    }
  }
#endif
