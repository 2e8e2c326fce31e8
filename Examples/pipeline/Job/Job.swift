import Foundation
import Operation
import OperationScheduling
import Synchronization

/// Fetches a list, downloads its files, and writes them and an index.
final class Job: Sendable {
  static let width = 4

  private let api: FileAPI
  private let session: Session
  private let folder: Folder
  private let scheduler = OperationScheduler(name: "the job")
  private let downloads = Mutex<(operations: [ScheduledOperation<Data>], isInterrupted: Bool)>(([], false))

  init(api: FileAPI, folder: Folder) {
    self.api = api
    self.session = Session(api: api)
    self.folder = folder
  }

  /// Whether the job was interrupted.
  var isInterrupted: Bool { self.downloads.withLock { $0.isInterrupted } }

  /// Cancels the downloads. A file that is being written is completed, and the index lists the complete files.
  func interrupt() {
    let operations = self.downloads.withLock { downloads in
      downloads.isInterrupted = true
      return downloads.operations
    }
    // The last ones first, so that none of them begins in the place of an earlier one.
    for operation in operations.reversed() { operation.cancel() }
  }

  /// Runs the job, and returns the files of the index.
  func run(onProgress: (OperationProgress.Counts) -> Void) async throws -> [RemoteFile] {
    let list = self.scheduler.schedule(
      FetchList(api: self.api, session: self.session).condition(LoggedIn(session: self.session))
    )
    let files = try await list.value
    let group = OperationGroup("files", maximumConcurrentOperations: Self.width)
    for file in files { self.add(file, to: group) }
    let written = self.scheduler.schedule(group)
    // Vital: nothing that is scheduled later begins before the folder is complete.
    let index = self.scheduler.schedule(
      WriteIndex(folder: self.folder).mutuallyExclusive(Folder.Writer.self),
      vital: true
    ) { $0.addDependency(written) }
    for await counts in group.progress.updates { onProgress(counts) }
    let indexed = try await index.value
    if !self.isInterrupted { try await written.value }
    return indexed
  }

  private func add(_ file: RemoteFile, to group: OperationGroup) {
    let download = group.schedule(
      DownloadFile(api: self.api, session: self.session, file: file)
        .retry(limit: 3)
        .backoff(.constant(.milliseconds(20)))
        .condition(LoggedIn(session: self.session)),
      named: "download \(file.name)"
    )
    let folder = self.folder
    // Before further downloads, so that no more files than these are held in memory.
    group.schedule(injecting: download, priority: .high, named: "write \(file.name)") { data in
      WriteFile(folder: folder, name: file.name, data: data).mutuallyExclusive(Folder.Writer.self)
    }
    let isInterrupted = self.downloads.withLock { downloads in
      downloads.operations.append(download)
      return downloads.isInterrupted
    }
    if isInterrupted { download.cancel() }
  }
}
