import OperationPersistence
import OperationPersistenceTesting
import Testing

final class FileStorage: PersistentStorage {
  let path: String

  init(path: String) throws {
    self.path = path
  }

  nonisolated(nonsending) func entries(withPrefix prefix: String) async throws -> [StorageEntry] { [] }
  nonisolated(nonsending) func apply(_ batch: [StorageChange]) async throws {}
  nonisolated(nonsending) func close() async {}

  func forbidWriting() throws {}

  func forbid(_ key: String) throws {}
}

func newPath() -> String { "" }
