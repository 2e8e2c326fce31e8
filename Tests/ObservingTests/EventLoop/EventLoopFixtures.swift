#if os(Linux)
  import Foundation
  import Glibc
  import OperationEventLoop
  import Synchronization

  /// Both ends of a pipe, which are closed with its last reference.
  final class Pipe: Sendable {
    let reader: CInt
    let writer: CInt
    private let isReaderOpen = Atomic(true)
    private let isWriterOpen = Atomic(true)

    init() {
      var ends: [CInt] = [-1, -1]
      precondition(pipe(&ends) == 0, "no pipe: \(errno)")
      (self.reader, self.writer) = (ends[0], ends[1])
    }

    deinit {
      self.closeReader()
      self.closeWriter()
    }

    func send(_ byte: UInt8 = 1) {
      var byte = byte
      _ = write(self.writer, &byte, 1)
    }

    /// Reads one byte.
    @discardableResult
    func receive() -> UInt8? {
      var byte: UInt8 = 0
      return read(self.reader, &byte, 1) == 1 ? byte : nil
    }

    func closeReader() {
      if self.isReaderOpen.exchange(false, ordering: .relaxed) { close(self.reader) }
    }

    func closeWriter() {
      if self.isWriterOpen.exchange(false, ordering: .relaxed) { close(self.writer) }
    }
  }

  /// What the system reports about the process.
  enum Process {
    /// The identifier of the current thread.
    static var currentThread: String {
      let link = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/thread-self")
      return link?.split(separator: "/").last.map(String.init) ?? "unknown"
    }

    /// The file behind a descriptor, such as `pipe:[4711]`.
    static func file(_ descriptor: CInt) -> String? {
      try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(descriptor)")
    }

    /// Whether the process has the file open.
    static func hasOpen(_ file: String) -> Bool {
      let descriptors = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
      return descriptors.contains { CInt($0).flatMap(self.file) == file }
    }

    /// The number of descriptors that the process may have open.
    static var descriptorLimit: Int {
      var limit = rlimit()
      getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
      return Int(clamping: limit.rlim_cur)
    }

    /// The processor time that the current thread has used.
    static var threadTime: Duration {
      var time = timespec()
      clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
      return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
  }
#endif
