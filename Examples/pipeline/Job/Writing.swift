import Foundation
import Operation
import OperationScheduling

/// The folder that the files go to. One operation writes at a time.
struct Folder: Sendable {
  /// The category of the operations that write.
  enum Writer {}

  let url: URL

  /// Writes a file, which appears as a whole or not at all.
  func write(_ data: Data, to name: String) throws {
    let part = self.url.appending(path: "\(name).part")
    try data.write(to: part)
    let target = self.url.appending(path: name)
    guard rename(part.path(), target.path()) == 0 else { throw CocoaError(.fileWriteUnknown) }
  }

  var names: [String] {
    get throws { try FileManager.default.contentsOfDirectory(atPath: self.url.path()).sorted() }
  }

  func content(of name: String) throws -> Data {
    try Data(contentsOf: self.url.appending(path: name))
  }
}

struct WriteFile: OperationRequest, Sendable {
  let folder: Folder
  let name: String
  let data: Data

  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Void, any Error>
  ) async throws {
    try self.folder.write(self.data, to: self.name)
  }
}

/// Writes the names and checksums of the files that are there.
struct WriteIndex: OperationRequest, Sendable {
  static let fileName = "index.json"

  let folder: Folder

  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<[RemoteFile], any Error>
  ) async throws -> [RemoteFile] {
    let files = try self.folder.names.filter { $0 != Self.fileName }.map {
      RemoteFile(name: $0, checksum: Checksum.of(try self.folder.content(of: $0)))
    }
    try self.folder.write(try JSONEncoder().encode(files), to: Self.fileName)
    return files
  }
}
