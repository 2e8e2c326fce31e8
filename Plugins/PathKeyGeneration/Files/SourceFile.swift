/// A file of path keys, with its path and its contents.
package final class SourceFile: Sendable {
  /// The path of the file as shown in messages.
  package let path: String
  let bytes: [UInt8]
  private let lineStarts: [Int]

  /// Creates a file from bytes, which need not be valid text.
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

  /// The line and the column of an offset, both from 1. Columns count bytes, as in the compiler.
  func position(of offset: Int) -> (line: Int, column: Int) {
    var low = 0
    var high = self.lineStarts.count
    while high - low > 1 {
      let middle = (low + high) / 2
      if self.lineStarts[middle] <= offset { low = middle } else { high = middle }
    }
    // Editors do not count the byte order mark as a column.
    let mark = low == 0 && self.startsWithMark && offset >= 3 ? 3 : 0
    return (low + 1, offset - self.lineStarts[low] - mark + 1)
  }

  var startsWithMark: Bool { self.bytes.starts(with: [0xEF, 0xBB, 0xBF]) }
}
