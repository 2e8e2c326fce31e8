import Foundation

/// A PostgreSQL server of this program: a cluster of its own in a temporary folder, on a socket of that folder.
///
/// A shell keeps it, and stops it when this program ends, however that happens.
final class DatabaseServer: Sendable {
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  let folder: String
  private let commands: FileHandle
  private let answers: FileHandle

  /// The connection string of its database.
  var connection: String { "host=\(self.folder) user=owner dbname=postgres" }

  init() throws {
    guard let programs = Self.programs else {
      throw Failure(
        description: """
          No PostgreSQL server is installed. Install it (Debian: apt-get install postgresql), or set \
          SWIFT_OPERATION_POSTGRESQL to the folder of initdb.
          """
      )
    }
    self.folder = (NSTemporaryDirectory() as NSString).appendingPathComponent("fleet-\(UInt32.random(in: 0...(.max)))")
    try FileManager.default.createDirectory(atPath: self.folder, withIntermediateDirectories: true)
    let process = Process()
    let (commands, answers) = (Pipe(), Pipe())
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments = ["-c", Self.script, "server", programs, self.folder]
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

  private static var programs: String? {
    if let folder = ProcessInfo.processInfo.environment["SWIFT_OPERATION_POSTGRESQL"] {
      return FileManager.default.isExecutableFile(atPath: folder + "/initdb") ? folder : nil
    }
    let versions = (try? FileManager.default.contentsOfDirectory(atPath: "/usr/lib/postgresql")) ?? []
    let newest = versions.compactMap { Int($0) }.max().map { "/usr/lib/postgresql/\($0)/bin" }
    let folders = [newest, "/opt/homebrew/bin", "/usr/local/bin", "/usr/bin"].compactMap { $0 }
    return folders.first { FileManager.default.isExecutableFile(atPath: $0 + "/initdb") }
  }

  private static let script = """
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
}
