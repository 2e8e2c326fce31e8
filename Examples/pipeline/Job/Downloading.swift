import Foundation
import Operation
import OperationScheduling

struct FetchList: OperationRequest, Sendable {
  let api: FileAPI
  let session: Session

  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<[RemoteFile], any Error>
  ) async throws -> [RemoteFile] {
    try await self.api.list(token: try await self.session.requireToken())
  }
}

/// Downloads a file, and verifies it.
struct DownloadFile: OperationRequest, Sendable {
  struct WrongChecksum: Error {
    let name: String
  }

  let api: FileAPI
  let session: Session
  let file: RemoteFile

  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Data, any Error>
  ) async throws -> Data {
    let data = try await self.api.content(of: self.file, token: try await self.session.requireToken())
    guard Checksum.of(data) == self.file.checksum else { throw WrongChecksum(name: self.file.name) }
    return data
  }
}
