import Foundation
import OperationFleet
import OperationPostgreSQL
import OperationValkey

/// A database of this program: PostgreSQL, or Valkey or Redis.
enum Backend: String {
  case postgresql
  case valkey

  /// The backend of a node, by the form of its connection string.
  static func fleet(_ connection: String, maximumConnections: Int = 4) throws -> any FleetBackend {
    if connection.hasPrefix("unix:") { return try ValkeyFleet(connection: connection) }
    return try PostgreSQLFleet(connection: connection, maximumConnections: maximumConnections)
  }
}

/// A server of this program, in a temporary folder, on a socket of that folder.
///
/// A shell keeps it, and stops it when this program ends, however that happens.
final class DatabaseServer: Sendable {
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  let folder: String
  private let backend: Backend
  private let commands: FileHandle
  private let answers: FileHandle

  /// The connection string of its database.
  var connection: String {
    switch self.backend {
    case .postgresql: "host=\(self.folder) user=owner dbname=postgres"
    case .valkey: "unix://\(self.folder)/socket"
    }
  }

  init(_ backend: Backend) throws {
    self.backend = backend
    guard let program = Self.program(of: backend) else {
      let remedy =
        switch backend {
        case .postgresql:
          """
          No PostgreSQL server is installed. Install it (Debian: apt-get install postgresql), or set \
          SWIFT_OPERATION_POSTGRESQL to the folder of initdb.
          """
        case .valkey:
          """
          No Valkey or Redis server is installed. Install it (Debian: apt-get install redis-server), or set \
          SWIFT_OPERATION_VALKEY to the path of the program.
          """
        }
      throw Failure(description: remedy)
    }
    self.folder = (NSTemporaryDirectory() as NSString).appendingPathComponent("fleet-\(UInt32.random(in: 0...(.max)))")
    try FileManager.default.createDirectory(atPath: self.folder, withIntermediateDirectories: true)
    let process = Process()
    let (commands, answers) = (Pipe(), Pipe())
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments = ["-c", Self.script(of: backend), "server", program, self.folder]
    process.standardInput = commands
    process.standardOutput = answers
    try process.run()
    (self.commands, self.answers) = (commands.fileHandleForWriting, answers.fileHandleForReading)
    try self.perform("start")
  }

  /// Makes the shell start or stop the server, and waits until it has.
  func perform(_ command: String) throws {
    try self.commands.write(contentsOf: Data((command + "\n").utf8))
    var answer = ""
    while !answer.hasSuffix("\n"), let byte = try self.answers.read(upToCount: 1), !byte.isEmpty {
      answer += String(decoding: byte, as: UTF8.self)
    }
    if answer != "done 0\n" {
      let log = try? String(contentsOfFile: self.folder + "/log", encoding: .utf8)
      throw Failure(description: "The server did not \(command). \(log ?? "")")
    }
  }

  /// Stops the server, and removes its folder.
  func end() {
    try? self.commands.close()
    _ = try? self.answers.readToEnd()
  }

  /// The folder of the programs of PostgreSQL, or the program of the other server.
  private static func program(of backend: Backend) -> String? {
    switch backend {
    case .postgresql: self.programs
    case .valkey: self.valkey
    }
  }

  private static var valkey: String? {
    let isProgram = FileManager.default.isExecutableFile(atPath:)
    if let path = ProcessInfo.processInfo.environment["SWIFT_OPERATION_VALKEY"] { return isProgram(path) ? path : nil }
    let folders = ["/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"]
    return ["valkey-server", "redis-server"].flatMap { name in folders.map { "\($0)/\(name)" } }.first(where: isProgram)
  }

  private static var programs: String? {
    if let folder = ProcessInfo.processInfo.environment["SWIFT_OPERATION_POSTGRESQL"] {
      return FileManager.default.isExecutableFile(atPath: folder + "/initdb") ? folder : nil
    }
    let versions = (try? FileManager.default.contentsOfDirectory(atPath: "/usr/lib/postgresql")) ?? []
    let newest = versions.compactMap { Int($0) }.max().map { "/usr/lib/postgresql/\($0)/bin" }
    let folders = [newest, "/opt/homebrew/bin", "/usr/local/bin", "/usr/bin"].compactMap { $0 }
    return folders.first { FileManager.default.isExecutableFile(atPath: $0 + "/initdb") }
  }

  private static func script(of backend: Backend) -> String {
    switch backend {
    case .postgresql: self.postgresqlScript
    case .valkey: self.valkeyScript
    }
  }

  private static let postgresqlScript = """
    programs=$1 folder=$2 as=
    # PostgreSQL refuses to run as root.
    if [ "$(id -u)" = 0 ]; then
      chown 65534:65534 "$folder"
      as='setpriv --reuid=65534 --regid=65534 --clear-groups'
    fi
    trap '' INT
    $as "$programs/initdb" -D "$folder/data" -U owner -A trust -E UTF8 --locale=C --no-sync >"$folder/log" 2>&1
    printf "listen_addresses = ''\\nunix_socket_directories = '%s'\\n" "$folder" >>"$folder/data/postgresql.conf"
    control() { $as "$programs/pg_ctl" -D "$folder/data" -w -t 60 -s "$@" >>"$folder/log" 2>&1 </dev/null; }
    while read -r command; do
      case $command in
        start) control start -l "$folder/server.log" ;;
        stop) control stop -m fast ;;
      esac
      echo "done $?"
    done
    control stop -m immediate
    rm -rf "$folder"
    """

  private static let valkeyScript = """
    program=$1 folder=$2
    trap '' INT
    start() {
      : >"$folder/log"
      "$program" --port 0 --unixsocket "$folder/socket" --dir "$folder" --save '' >>"$folder/log" 2>&1 </dev/null &
      server=$!
      until grep -q 'eady to accept connections' "$folder/log"; do
        kill -0 "$server" 2>/dev/null || return 1
        sleep 0.02
      done
    }
    while read -r command; do
      case $command in
        start) start ;;
        stop) kill "$server" && { wait "$server" || true; } ;;
      esac
      echo "done $?"
    done
    kill -9 "$server" 2>/dev/null
    wait "$server" 2>/dev/null
    rm -rf "$folder"
    """
}
