import Foundation
import Synchronization

/// The files of the server, and the requests that it has received.
final class ServerState: Sendable {
  private struct Content {
    var loginCount = 0
    var downloadCount = 0
    var mostDownloads = 0
    var requested: Set<String> = []
  }

  let files: [RemoteFile]
  private let contents: [String: Data]
  private let content = Mutex(Content())

  init(fileCount: Int) {
    var contents: [String: Data] = [:]
    for number in 1...fileCount {
      contents["file-\(number).txt"] = Data((0..<20_000).map { UInt8(truncatingIfNeeded: $0 &* number) })
    }
    self.contents = contents
    self.files = contents.map { RemoteFile(name: $0, checksum: Checksum.of($1)) }.sorted { $0.name < $1.name }
  }

  var loginCount: Int { self.content.withLock { $0.loginCount } }

  /// The highest number of downloads at one time.
  var mostDownloads: Int { self.content.withLock { $0.mostDownloads } }

  func content(of name: String) -> Data? { self.contents[name] }

  func noteLogin() {
    self.content.withLock { $0.loginCount += 1 }
  }

  /// Whether this is the first request for a file, which is refused.
  func isFirstRequest(of name: String) -> Bool {
    self.content.withLock { $0.requested.insert(name).inserted }
  }

  func beginDownload() {
    self.content.withLock { content in
      content.downloadCount += 1
      content.mostDownloads = max(content.mostDownloads, content.downloadCount)
    }
  }

  func endDownload() {
    self.content.withLock { $0.downloadCount -= 1 }
  }
}
