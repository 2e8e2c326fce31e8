#if SwiftOperationSQLite && os(Linux)
  import Foundation
  import GRDB
  import Glibc
  import OperationCore
  import OperationPersistence
  import OperationSQLite
  import OperationTesting
  import TestFixtures
  import Testing

  /// A folder of a test, removed at its end.
  final class Folder: Sendable {
    let path: String

    init(in parent: String = NSTemporaryDirectory()) throws {
      self.path = (parent as NSString).appendingPathComponent("sqlite-tests-\(UUID().uuidString)")
      try FileManager.default.createDirectory(atPath: self.path, withIntermediateDirectories: true)
    }

    deinit {
      chmod(self.path, 0o700)
      try? FileManager.default.removeItem(atPath: self.path)
    }

    /// A folder in memory, for tests that do not depend on a disk.
    static func inMemory() throws -> Folder {
      try Folder(in: FileManager.default.isWritableFile(atPath: "/dev/shm") ? "/dev/shm" : NSTemporaryDirectory())
    }

    func file(_ name: String = "state.sqlite") -> String { (self.path as NSString).appendingPathComponent(name) }

    /// The names of the files, without the reserve of the disk, which has nothing that was stored.
    var files: [String] {
      get throws {
        try FileManager.default.contentsOfDirectory(atPath: self.path).filter { !$0.hasSuffix("-reserve") }
      }
    }

    func write(_ data: Data, to name: String = "state.sqlite") throws {
      try data.write(to: URL(fileURLWithPath: self.file(name)))
    }

    func read(_ name: String = "state.sqlite") throws -> Data {
      try Data(contentsOf: URL(fileURLWithPath: self.file(name)))
    }
  }

  /// Runs a program of the package to its end, and returns what it has printed and how it has ended.
  func runSubject(_ arguments: String...) async throws -> (output: String, reason: Process.TerminationReason) {
    let own = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
    let program = (own as NSString).deletingLastPathComponent + "/StorageSubject"
    return try await withTimeLimit("the end of the subject") {
      try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread {
          let process = Process()
          let output = Pipe()
          process.executableURL = URL(fileURLWithPath: program)
          process.arguments = arguments
          process.standardOutput = output
          do { try process.run() } catch { return continuation.resume(throwing: error) }
          let data = output.fileHandleForReading.readDataToEndOfFile()
          process.waitUntilExit()
          let text = String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
          continuation.resume(returning: (text, process.terminationReason))
        }
      }
    }
  }

  /// Runs a command of the system, and returns whether it has succeeded.
  func run(_ command: String, _ arguments: String...) -> Bool {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: command)
    process.arguments = arguments
    process.standardError = FileHandle.nullDevice
    guard (try? process.run()) != nil else { return false }
    process.waitUntilExit()
    return process.terminationStatus == 0
  }

  /// Whether this user may mount a disk.
  func mayMount() -> Bool {
    guard let folder = try? Folder() else { return false }
    defer { withExtendedLifetime(folder) {} }
    return run("/bin/mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", folder.path) && run("/bin/umount", folder.path)
  }

  /// Takes all that is left of a disk with a file.
  func fillUp(_ path: String) {
    let file = open(path, O_WRONLY | O_CREAT, 0o600)
    let bytes = [UInt8](repeating: 1, count: 4_096)
    while write(file, bytes, bytes.count) > 0 {}
    close(file)
  }

  extension PersistentStorage {
    func keys(_ prefix: String = "") async throws -> [String] {
      try await self.entries(withPrefix: prefix).map(\.key)
    }

    func put(_ key: String, _ text: String) async throws {
      try await self.apply([.put(key: key, value: Array(text.utf8))])
    }
  }

  /// Expects an error of a storage with one of the codes, whose message names the path.
  func expectRefusal(
    _ codes: StorageError.Code...,
    of path: String,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let error = #expect(throws: StorageError.self, sourceLocation: sourceLocation) { try SQLiteStorage(path: path) }
    let isExpected = error.map { codes.contains($0.code) } ?? false
    #expect(isExpected, "\(error.map { "\($0)" } ?? "no error")", sourceLocation: sourceLocation)
    expect(error?.message.contains(path), equals: true, sourceLocation: sourceLocation)
  }

  /// Keeps other connections from writing to a file.
  struct FileLock {
    private let queue: DatabaseQueue

    init(_ path: String) throws {
      var configuration = Configuration()
      configuration.allowsUnsafeTransactions = true
      self.queue = try DatabaseQueue(path: path, configuration: configuration)
      try self.queue.inDatabase { try $0.execute(sql: "BEGIN IMMEDIATE") }
    }

    func release() throws {
      try self.queue.inDatabase { try $0.execute(sql: "ROLLBACK") }
      try self.queue.close()
    }
  }

  /// A query whose values are stored.
  struct ValueQuery: QueryRequest {
    let number: Int

    var path: OperationPath { ["value", self.number] }

    func fetch(
      isolation: isolated (any Actor)?,
      in context: OperationContext,
      with continuation: OperationContinuation<String, any Error>
    ) async throws -> String {
      "fetched"
    }
  }
#endif
