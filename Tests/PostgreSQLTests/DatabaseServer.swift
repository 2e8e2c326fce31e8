#if SwiftOperationPostgreSQL && os(Linux)
  import Foundation
  import Glibc
  import OperationCore
  import Testing

  /// A PostgreSQL server of the tests: a cluster of its own in a temporary folder, on a socket of that folder.
  ///
  /// A shell keeps it, as another user where this one is root, for whom PostgreSQL refuses to run. It stops the server and
  /// removes the folder when this process ends, however it ends.
  final class DatabaseServer: Sendable {
    struct Failure: Error, CustomStringConvertible {
      let description: String
    }

    /// The server that tests share which leave it running.
    static let shared = Task { try await DatabaseServer() }

    /// The folder of the programs of the server; nil where it is not installed.
    static let programs: String? = {
      if let folder = ProcessInfo.processInfo.environment["SWIFT_OPERATION_POSTGRESQL"] { return folder }
      let versions = (try? FileManager.default.contentsOfDirectory(atPath: "/usr/lib/postgresql")) ?? []
      let newest = versions.compactMap { Int($0) }.max().map { "/usr/lib/postgresql/\($0)/bin" }
      let folders = [newest, "/usr/bin", "/usr/local/bin", "/usr/pgsql/bin"].compactMap { $0 }
      return folders.first { FileManager.default.isExecutableFile(atPath: $0 + "/initdb") }
    }()

    let folder: String
    let port: Int
    private let commands: FileHandle
    private let answers: FileHandle
    private let process: Process

    /// The connection string of a database of the server.
    func connection(user: String = "owner", database: String = "postgres", _ options: String = "") -> String {
      "host=\(self.folder) port=\(self.port) user=\(user) dbname=\(database) \(options)"
    }

    /// The connection string of the database over TCP, for a server that listens at its port.
    func networkConnection(_ options: String) -> String {
      "host=127.0.0.1 port=\(self.port) user=owner dbname=postgres \(options)"
    }

    /// Makes a cluster, and starts its server.
    ///
    /// - Parameters:
    ///   - settings: Settings of the server.
    ///   - data: The folder of the data; nil for one in the folder of the server.
    ///   - port: The port, which the name of the socket has, too.
    /// - Throws: A ``Failure`` with the log if the server does not start, or with what to install.
    init(settings: [String] = [], data: String? = nil, port: Int = 5_432) async throws {
      self.port = port
      guard let programs = Self.programs else {
        throw Failure(
          description: """
            No PostgreSQL server is installed. Install it (Debian: apt-get install postgresql), or set \
            SWIFT_OPERATION_POSTGRESQL to the folder of initdb.
            """
        )
      }
      self.folder = (NSTemporaryDirectory() as NSString).appendingPathComponent("pg-\(UInt32.random(in: 0...(.max)))")
      try FileManager.default.createDirectory(atPath: self.folder, withIntermediateDirectories: true)
      let process = Process()
      let (commands, answers) = (Pipe(), Pipe())
      let shell = ["/bin/sh", "-c", Self.script, "server", programs, self.folder, data ?? self.folder + "/data"]
      // Enough connections for the pools of all tests that run at once.
      let own = [
        "listen_addresses=", "unix_socket_directories=\(self.folder)", "port=\(port)", "fsync=off",
        "max_connections=1000",
      ]
      let arguments = shell + own + settings
      for folder in [self.folder, data].compactMap({ $0 }) { Self.giveAway(folder) }
      process.executableURL = URL(fileURLWithPath: arguments[0])
      process.arguments = Array(arguments.dropFirst())
      process.currentDirectoryURL = URL(fileURLWithPath: "/")
      process.standardInput = commands
      process.standardOutput = answers
      try process.run()
      (self.process, self.commands, self.answers) = (
        process, commands.fileHandleForWriting, answers.fileHandleForReading
      )
      try await self.send("start")
    }

    deinit {
      try? self.commands.close()
    }

    /// Stops the server in order: it ends its sessions.
    func stop() async throws { try await self.send("stop") }

    /// Stops the server as a crash does.
    func crash() async throws { try await self.send("crash") }

    func start() async throws { try await self.send("start") }

    /// Suspends all processes of the server: nothing is answered, and no connection is closed.
    func suspend() async throws { try await self.send("suspend") }

    /// Lets a suspended server go on.
    func proceed() async throws { try await self.send("proceed") }

    /// Makes a file one of the user of the server.
    static func giveAway(_ path: String) {
      if getuid() == 0 { chown(path, 65_534, 65_534) }
    }

    /// Runs statements with `psql`, and returns what it prints.
    @discardableResult
    func run(
      _ sql: String,
      user: String = "owner",
      database: String = "postgres",
      over connection: String? = nil
    ) async throws -> String {
      let connection = connection ?? self.connection(user: user, database: database)
      let programs = Self.programs ?? ""
      return try await inThread {
        let process = Process()
        let (output, errors) = (Pipe(), Pipe())
        process.executableURL = URL(fileURLWithPath: programs + "/psql")
        process.arguments = ["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-c", sql, connection]
        process.standardOutput = output
        process.standardError = errors
        try process.run()
        let text = output.fileHandleForReading.readDataToEndOfFile()
        let message = errors.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        if process.terminationStatus != 0 { throw Failure(description: String(decoding: message, as: UTF8.self)) }
        return String(decoding: text, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
      }
    }

    /// Sends a command to the shell, and waits until it was carried out.
    private func send(_ command: String) async throws {
      try await inThread { [commands = self.commands, answers = self.answers, folder = self.folder] in
        try commands.write(contentsOf: Data((command + "\n").utf8))
        var answer = ""
        while !answer.hasSuffix("\n") {
          guard let byte = try answers.read(upToCount: 1), !byte.isEmpty else { break }
          answer += String(decoding: byte, as: UTF8.self)
        }
        if answer != "done 0\n" {
          let logs = ["log", "server.log"].map {
            (try? String(contentsOfFile: "\(folder)/\($0)", encoding: .utf8)) ?? "no \($0)"
          }
          throw Failure(description: "the server did not \(command): \(answer)\n\(logs.joined(separator: "\n"))")
        }
      }
    }

    private static let script = """
      programs=$1 folder=$2 data=$3
      shift 3
      # PostgreSQL refuses to run as root.
      as=
      [ "$(id -u)" != 0 ] || as='setpriv --reuid=65534 --regid=65534 --clear-groups'
      $as "$programs/initdb" -D "$data" -U owner -A trust -E UTF8 --locale=C --no-sync >"$folder/log" 2>&1
      for setting; do echo "$setting" | sed "s/=\\(.*\\)/='\\1'/"; done >>"$data/postgresql.conf"
      control() { $as "$programs/pg_ctl" -D "$data" -w -t 60 -s "$@" >>"$folder/log" 2>&1 </dev/null; }
      # The first process, which starts the others, before those.
      signal() {
        pid=$(head -n 1 "$data/postmaster.pid") && kill "$1" "$pid" || return
        # Again for a child that it has started before it received the signal.
        for child in $(cat "/proc/$pid/task/$pid/children") $(cat "/proc/$pid/task/$pid/children"); do
          kill "$1" "$child" 2>/dev/null || true
        done
      }
      while read -r command; do
        case $command in
          start) control start -l "$folder/server.log" ;;
          stop) control stop -m fast ;;
          crash) control stop -m immediate ;;
          suspend) signal -STOP ;;
          proceed) signal -CONT ;;
        esac
        echo "done $?"
      done
      signal -CONT 2>/dev/null
      control stop -m immediate
      rm -rf "$data"/* "$folder"
      """
  }

  /// Runs a body that blocks, on a thread of its own.
  func inThread<R: Sendable>(_ body: @escaping @Sendable () throws -> R) async throws -> R {
    try await withCheckedThrowingContinuation { continuation in
      Thread.detachNewThread { continuation.resume(with: Result { try body() }) }
    }
  }
#endif
