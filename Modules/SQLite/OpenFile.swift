#if SwiftOperationSQLite
  internal import Foundation
  internal import OperationCore
  internal import OperationPlatform

  /// A file of a database that is read without SQLite.
  ///
  /// Closing it ends the locks of SQLite in this process: make it only if no storage of the process has the file open.
  final class OpenFile {
    private let descriptor: Int32

    init?(_ path: String, isWritable: Bool = false) {
      self.descriptor = open(path, (isWritable ? O_RDWR : O_RDONLY) | O_CLOEXEC)
      if self.descriptor < 0 { return nil }
    }

    deinit { close(self.descriptor) }

    var size: Int {
      var status = stat()
      return fstat(self.descriptor, &status) == 0 ? Int(status.st_size) : 0
    }

    var identity: FileIdentity? {
      var status = stat()
      return fstat(self.descriptor, &status) == 0 ? FileIdentity(status) : nil
    }

    /// Reads bytes, fewer at the end of the file; nil if they cannot be read.
    func read(at offset: Int, count: Int) -> [UInt8]? {
      var isRead = true
      let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
        while filled < count {
          let result = pread(
            self.descriptor,
            buffer.baseAddress.map { $0 + filled },
            count - filled,
            off_t(offset + filled)
          )
          if result < 0, errno == EINTR { continue }
          isRead = result >= 0
          if result <= 0 { return }
          filled += result
        }
      }
      return isRead ? bytes : nil
    }

    /// Excludes all connections of other processes, which hold a shared lock on these bytes as long as they are open.
    func lockOut() -> Bool {
      var lock = Self.lockOfConnections
      return fcntl(self.descriptor, F_SETLK, &lock) == 0
    }

    /// A lock that no connection of SQLite may have at the same time.
    private static var lockOfConnections: flock {
      var lock = flock()
      lock.l_type = Int16(F_WRLCK)
      lock.l_whence = Int16(SEEK_SET)
      lock.l_start = 0x4000_0002
      lock.l_len = 510
      return lock
    }

    /// Whether a connection of another process has the file open.
    var isOpenElsewhere: Bool {
      var lock = Self.lockOfConnections
      return fcntl(self.descriptor, F_GETLK, &lock) != 0 || lock.l_type != Int16(F_UNLCK)
    }

    /// Gives a file the permissions and the owner of this one, as far as this user may.
    func copyOwnership(to path: String) {
      var status = stat()
      guard fstat(self.descriptor, &status) == 0 else { return }
      _ = chown(path, status.st_uid, status.st_gid)
      _ = chmod(path, status.st_mode & 0o777)
    }
  }

  /// What identifies a file, whatever its name is.
  struct FileIdentity: Hashable, Sendable {
    private let device: UInt64
    private let number: UInt64

    fileprivate init(_ status: stat) {
      self.device = UInt64(truncatingIfNeeded: status.st_dev)
      self.number = UInt64(truncatingIfNeeded: status.st_ino)
    }

    init?(_ path: String) {
      var status = stat()
      guard stat(path, &status) == 0 else { return nil }
      self.init(status)
    }
  }

  /// A file that a storage of this process has open, until this object is released.
  final class UsedFile: Sendable {
    private static let counts = Locked<[FileIdentity: Int]>([:])
    private let identity: FileIdentity

    init(_ identity: FileIdentity) {
      self.identity = identity
      Self.counts.withLock { $0[identity, default: 0] += 1 }
    }

    deinit {
      Self.counts.withLock { [identity] counts in
        let count = (counts[identity] ?? 1) - 1
        counts[identity] = count == 0 ? nil : count
      }
    }

    static func contains(_ identity: FileIdentity?) -> Bool {
      guard let identity else { return false }
      return self.counts.withLock { $0[identity] != nil }
    }
  }

  /// A lock on the folder of a database, so that one storage at a time opens a file in it, in all processes.
  final class FolderLock {
    private let descriptor: Int32

    /// Waits for the lock; nil if the folder cannot be locked, and nothing in it can be replaced.
    init?(ofFile path: String, until end: ContinuousClock.Instant) {
      let folder = (path as NSString).deletingLastPathComponent
      self.descriptor = open(folder.isEmpty ? "." : folder, O_RDONLY | O_CLOEXEC)
      if self.descriptor < 0 { return nil }
      while flock(self.descriptor, LOCK_EX | LOCK_NB) != 0 {
        guard errno == EWOULDBLOCK || errno == EINTR, ContinuousClock.now < end else { return nil }
        Thread.sleep(forTimeInterval: 0.002)
      }
    }

    deinit { close(self.descriptor) }

    /// Makes the names of the files in the folder survive a crash of the system.
    func synchronize() { fsync(self.descriptor) }
  }
#endif
