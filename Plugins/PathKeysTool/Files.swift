internal import OperationPathKeyGeneration

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// Reads and writes files.
enum Files {
  static func sources(at paths: [String]) throws(ToolFailure) -> [SourceFile] {
    var sources: [SourceFile] = []
    for path in paths {
      do {
        sources.append(SourceFile(path: path, bytes: Array(try Data(contentsOf: URL(filePath: path)))))
      } catch {
        throw ToolFailure("'\(path)' cannot be read: \(error)")
      }
    }
    return sources
  }

  /// Writes a text, unless the file contains it already: a file that is not written is not compiled again.
  static func write(_ text: String, to path: String) throws(ToolFailure) {
    let url = URL(filePath: path)
    let data = Data(text.utf8)
    if let present = try? Data(contentsOf: url), present == data { return }
    do {
      try data.write(to: url, options: .atomic)
    } catch {
      throw ToolFailure("'\(path)' cannot be written: \(error)")
    }
  }
}
