#if SwiftOperationSQLite && os(Linux)
  import Foundation
  import OperationCore
  import OperationMutation
  import OperationPersistence
  import OperationSQLite
  import OperationStorageTool
  import OperationTesting
  import Testing

  /// A database in a folder that is removed at the end of a test.
  final class ToolFile: Sendable {
    /// When the tool is asked, in the tests.
    static let now = Date(timeIntervalSinceReferenceDate: 200_000)

    let folder: String
    let path: String

    init() throws {
      self.folder = (NSTemporaryDirectory() as NSString).appendingPathComponent("storage-tool-\(UUID().uuidString)")
      self.path = self.folder + "/state.sqlite"
      try FileManager.default.createDirectory(atPath: self.folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: self.folder) }

    /// The contents of all files, by their names, without the reserve of the disk, which has nothing that was stored.
    var files: [String: Data] {
      get throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: self.folder).filter {
          !$0.hasSuffix("-reserve")
        }
        return try Dictionary(
          uniqueKeysWithValues: names.map { ($0, try Data(contentsOf: URL(filePath: self.folder + "/" + $0))) }
        )
      }
    }

    func open() throws -> SQLiteStorage { try SQLiteStorage(path: self.path) }

    /// Stores two values of posts, one of a user, and three calls, one of which cannot be read.
    func fill() async throws {
      let storage = try self.open()
      func value(_ name: String, _ path: String, _ text: String, _ seconds: Int) -> StorageChange {
        let json =
          #"{"hasValue":true,"value":"\#(text)","valueUpdateCount":1,"valueLastUpdatedAt":\#(seconds),"#
          + #""errorUpdateCount":0}"#
        return .put(key: "value/\(path)=\(name)=", value: Array("value1 2 0\n\(json)".utf8))
      }
      func call(_ number: Int, _ name: String, _ text: String, _ facts: String) -> StorageChange {
        let json =
          #"{"format":1,"id":"k\#(number)","name":"\#(name)","scope":"snotes/","acceptedAt":199940,\#(facts),"#
          + #""arguments":"\"\#(text)\""}"#
        return .put(key: "journal/0000000000000000000\(number)-k\(number)", value: Array(json.utf8))
      }
      try await storage.apply([
        value("post", "sposts/i1/", "first secret", 0),
        value("post", "sposts/i2/", "second secret", 199_999),
        value("user", "susers/sa%2Fb/", "third secret", 190_000),
        call(1, "rename", "fourth secret", #""attempts":2,"isSetAside":false"#),
        call(2, "rename", "fifth secret", #""attempts":5,"isSetAside":true"#),
        .put(key: "journal/00000000000000000003-k3", value: Array("secret".utf8)),
        .put(key: "mine", value: [0xFF, 1]),
      ])
      await storage.close()
    }

    func run(_ arguments: String...) async throws -> StorageCommand.Result {
      let command = try #require(StorageCommand(arguments))
      return await command.perform(now: Self.now)
    }

    /// Runs the program to its end.
    func runProgram(_ arguments: String...) async throws -> (output: String, problem: String, status: Int32) {
      let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
      let program = (own as NSString).deletingLastPathComponent + "/operation-storage"
      return try await withTimeLimit("the end of the program") {
        try await withCheckedThrowingContinuation { continuation in
          Thread.detachNewThread {
            let process = Process()
            let (output, problem) = (Pipe(), Pipe())
            process.executableURL = URL(fileURLWithPath: program)
            process.arguments = arguments
            process.standardOutput = output
            process.standardError = problem
            do { try process.run() } catch { return continuation.resume(throwing: error) }
            // The texts are short, so none of the pipes gets full.
            let texts = [output, problem].map {
              String(decoding: $0.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            }
            process.waitUntilExit()
            continuation.resume(returning: (texts[0], texts[1], process.terminationStatus))
          }
        }
      }
    }
  }
#endif
