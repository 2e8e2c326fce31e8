#if SwiftOperationSQLite
  internal import GRDB
  internal import OperationPlatform
  internal import Synchronization

  /// Room on a disk that is kept for removals: a file beside the database, which is given up when the disk is full.
  ///
  /// A removal makes room in the file of the database, and needs some in its log first. The log can be used from its
  /// beginning again only after its pages were copied to the file, which has to grow for those of new entries. So the
  /// reserve is as large as that growth, and 128 KiB more. Without it, a program that finds its disk full could not remove
  /// what has filled it.
  final class DiskReserve: Sendable {
    /// How much is kept besides the growth of the file: 31 pages of a log. A removal writes each page that it changes or
    /// overwrites.
    static let size = 131_072

    private struct State: Sendable {
      /// Whether room is kept, or cannot be kept by a file here.
      var isKept = false
      /// The number of pages that the reserve was last made for; nil if it has to be looked at.
      var pageCount: Int?
      var pageSize: Int?
    }

    private let path: String
    private let database: String
    private let state = Mutex(State())

    /// The reserve of the database at a path. All storages of the database have one.
    init(ofFile path: String) {
      self.path = path + "-reserve"
      self.database = path
    }

    var isKept: Bool { self.state.withLock { $0.isKept } }

    /// Makes the reserve as large as it has to be for the pages of the database.
    ///
    /// - Parameter database: The connection that writes, also within a transaction.
    /// - Throws: An error with the code `SQLITE_FULL` if the disk has no room for it, or another error of SQLite.
    func cover(_ database: Database) throws {
      let count = try PreparedStatement("PRAGMA page_count", in: database).firstRow { $0.number(0) }
      guard let pageCount = count.flatMap({ $0 }).map({ Int($0) }) else { return }
      let (isCovered, knownSize) = self.state.withLock { ($0.isKept && $0.pageCount == pageCount, $0.pageSize) }
      if isCovered { return }
      let pageSize = try knownSize ?? Int.fetchOne(database, sql: "PRAGMA page_size") ?? 4_096
      let growth = pageCount * pageSize - Self.fileSize(of: self.database)
      let isKept = self.keep(Self.size + max(0, growth))
      self.state.withLock { $0 = State(isKept: isKept, pageCount: pageCount, pageSize: pageSize) }
      if !isKept { throw DatabaseError(resultCode: .SQLITE_FULL, message: "there is no room for the reserve") }
    }

    /// Makes a reserve of a database that was closed, whose log was copied to the file, if it was given up before.
    func keepOfClosed() {
      if !self.isKept { _ = self.keep(Self.size) }
    }

    /// Looks at the size again the next time, because pages of the file were given back.
    func invalidate() { self.state.withLock { $0.pageCount = nil } }

    /// Gives the room up. Returns whether some was kept.
    func giveUp() -> Bool {
      self.state.withLock { $0.isKept = false }
      return unlink(self.path) == 0
    }

    /// Changes how much is kept. Returns false if the disk has no room for it; what was kept before is kept then.
    private func keep(_ size: Int) -> Bool {
      let descriptor = open(self.path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
      // Where no file can be made there is no reserve.
      if descriptor < 0 { return !Self.isOfFullDisk(errno) }
      defer { close(descriptor) }
      var status = stat()
      guard fstat(descriptor, &status) == 0 else { return true }
      let sizeBefore = Int(status.st_size)
      // A file without its blocks, such as a copy that leaves zeros out, keeps no room.
      var count = Int(status.st_blocks) * 512 < sizeBefore ? 0 : sizeBefore
      if count >= size { return count == size || ftruncate(descriptor, off_t(size)) == 0 }
      // Others need the last room, also while it is tried.
      if let room = Self.room(forFile: self.database), room < size - count {
        if count == 0 { unlink(self.path) }
        return false
      }
      let (bytes, start) = ([UInt8](repeating: 0xFF, count: 16_384), count)
      while count < size {
        let written = pwrite(descriptor, bytes, min(bytes.count, size - count), off_t(count))
        if written < 0, errno == EINTR { continue }
        guard written > 0 else {
          let isFull = Self.isOfFullDisk(errno)
          // A part of it would only take away what others need.
          if start == 0 { unlink(self.path) } else { ftruncate(descriptor, off_t(start)) }
          return !isFull
        }
        count += written
      }
      return true
    }

    private static func isOfFullDisk(_ code: CInt) -> Bool { code == ENOSPC || code == EDQUOT }

    private static func fileSize(of path: String) -> Int {
      var status = stat()
      return stat(path, &status) == 0 ? Int(status.st_size) : 0
    }

    /// How many bytes the disk of a file has left for this user; nil if that is not known.
    static func room(forFile path: String) -> Int? {
      var status = statvfs()
      guard statvfs(path, &status) == 0 else { return nil }
      return Int(clamping: UInt64(status.f_bavail) * UInt64(status.f_frsize))
    }
  }
#endif
