#if SwiftOperationValkey && os(Linux)
  import Foundation
  import Glibc
  import OperationCore
  import Testing

  @testable import OperationValkey

  /// A Valkey or Redis server of the tests, in a temporary folder, on a socket of that folder.
  ///
  /// A shell keeps it. It stops the server and removes the folder when this process ends, however it ends.
  final class ValkeyServer: Sendable {
    struct Failure: Error, CustomStringConvertible {
      let description: String
    }

    /// The server that tests share which leave it running and empty nothing but their own keys.
    static let shared = Task { try await ValkeyServer() }

    /// The program of the server; nil where it is not installed.
    static let program: String? = {
      if let path = ProcessInfo.processInfo.environment["SWIFT_OPERATION_VALKEY"] {
        return FileManager.default.isExecutableFile(atPath: path) ? path : nil
      }
      let folders = ["/usr/bin", "/usr/local/bin", "/opt/homebrew/bin", "/usr/sbin"]
      let paths = ["valkey-server", "redis-server"].flatMap { name in folders.map { "\($0)/\(name)" } }
      return paths.first { FileManager.default.isExecutableFile(atPath: $0) }
    }()

    let folder: String
    private let commands: FileHandle
    private let answers: FileHandle
    private let process: Process

    /// The connection string of the server.
    func connection(user: String = "", database: Int = 0) -> String {
      "unix://\(user)\(self.folder)/socket?db=\(database)"
    }

    /// Starts a server.
    ///
    /// - Parameter settings: Its settings, as arguments: a server that persists nothing, and listens at no port, by default.
    /// - Throws: A ``Failure`` with the log if the server does not start, or with what to install.
    convenience init(_ settings: String...) async throws { try await self.init(settings: settings) }

    init(settings: [String]) async throws {
      guard let program = Self.program else {
        throw Failure(
          description: """
            No Valkey or Redis server is installed. Install one (Debian: apt-get install redis-server), or set \
            SWIFT_OPERATION_VALKEY to the path of the program.
            """
        )
      }
      self.folder = (NSTemporaryDirectory() as NSString).appendingPathComponent(
        "valkey-\(UInt32.random(in: 0...(.max)))"
      )
      try FileManager.default.createDirectory(atPath: self.folder, withIntermediateDirectories: true)
      let process = Process()
      let (commands, answers) = (Pipe(), Pipe())
      let own = ["--port", "0", "--unixsocket", "\(self.folder)/socket", "--dir", self.folder, "--save", ""]
      process.executableURL = URL(fileURLWithPath: "/bin/sh")
      process.arguments = ["-c", Self.script, "server", program, self.folder] + own + settings
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

    func start() async throws { try await self.send("start") }

    /// Ends the server as `kill -9` does.
    func crash() async throws { try await self.send("crash") }

    /// Suspends the server: nothing is answered, and no connection is closed.
    func suspend() async throws { try await self.send("suspend") }

    /// Lets a suspended server go on.
    func proceed() async throws { try await self.send("proceed") }

    /// Makes a request on a connection of its own, also where a fleet refuses the server.
    @discardableResult
    func run(_ words: String...) async throws -> Reply {
      var request = Request()
      for word in words { request.append(word) }
      return try await self.run(request)
    }

    @discardableResult
    func run(_ request: Request, user: String = "") async throws -> Reply {
      let address = try ServerAddress(self.connection(user: user))
      let socket = try ServerSocket.connect(toPath: "\(self.folder)/socket")
      let connection = ServerConnection(socket, name: address.name, deadlines: .system)
      if let password = address.password {
        _ = try await connection.perform(Request("AUTH", address.user, password), within: .seconds(60))
      }
      let reply = try await connection.perform(request, within: .seconds(60))
      connection.close()
      if case .error(let text) = reply { throw Failure(description: text) }
      return reply
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
          let log = (try? String(contentsOfFile: "\(folder)/log", encoding: .utf8)) ?? "no log"
          throw Failure(description: "the server did not \(command): \(answer)\n\(log)")
        }
      }
    }

    private static let script = """
      program=$1 folder=$2
      shift 2
      trap '' INT
      start() {
        # Before the server writes into it: that of an earlier start says that it is ready.
        : >"$folder/log"
        "$program" "$@" >>"$folder/log" 2>&1 </dev/null &
        pid=$!
        until grep -q 'eady to accept connections' "$folder/log"; do
          kill -0 "$pid" 2>/dev/null || return 1
          sleep 0.02
        done
      }
      while read -r command; do
        case $command in
          start) start "$@" ;;
          crash) kill -9 "$pid" && { wait "$pid" 2>/dev/null || true; } ;;
          suspend) kill -STOP "$pid" ;;
          proceed) kill -CONT "$pid" ;;
        esac
        echo "done $?"
      done
      kill -9 "$pid" 2>/dev/null
      wait "$pid" 2>/dev/null
      rm -rf "$folder"
      """
  }

  /// Runs a body that blocks, on a thread of its own.
  func inThread<R: Sendable>(_ body: @escaping @Sendable () throws -> R) async throws -> R {
    try await withCheckedThrowingContinuation { continuation in
      Thread.detachNewThread { continuation.resume(with: Result { try body() }) }
    }
  }
#endif
