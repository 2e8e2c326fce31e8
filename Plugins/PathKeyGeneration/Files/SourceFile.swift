/// A file of path keys: what it is called in messages, and what is in it.
package final class SourceFile: Sendable {
  /// The file's path as messages name it.
  package let path: String
  let bytes: [UInt8]
  private let lineStarts: [Int]

  /// Creates a file from its bytes, which need not be text.
  package init(path: String, bytes: [UInt8]) {
    self.path = path
    self.bytes = bytes
    self.lineStarts = Self.lineStarts(in: bytes)
  }

  /// Creates a file from text.
  package convenience init(path: String, text: String) {
    self.init(path: path, bytes: Array(text.utf8))
  }

  private static func lineStarts(in bytes: [UInt8]) -> [Int] {
    var starts = [0]
    var offset = 0
    while offset < bytes.count {
      let byte = bytes[offset]
      offset += 1
      if byte == UInt8(ascii: "\r"), offset < bytes.count, bytes[offset] == UInt8(ascii: "\n") { offset += 1 }
      if byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") { starts.append(offset) }
    }
    return starts
  }

  /// Line and column of an offset, both from 1; a column is a byte, as it is for the compiler.
  func position(of offset: Int) -> (line: Int, column: Int) {
    var low = 0
    var high = self.lineStarts.count
    while high - low > 1 {
      let middle = (low + high) / 2
      if self.lineStarts[middle] <= offset { low = middle } else { high = middle }
    }
    // The byte order mark takes no column in editors.
    let mark = low == 0 && self.startsWithMark && offset >= 3 ? 3 : 0
    return (low + 1, offset - self.lineStarts[low] - mark + 1)
  }

  var startsWithMark: Bool { self.bytes.starts(with: [0xEF, 0xBB, 0xBF]) }
}
