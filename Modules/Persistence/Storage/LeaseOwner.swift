internal import OperationFoundation
internal import OperationPlatform

/// Names of owners of leases that tell which process of the machine the owner belongs to.
///
/// A name is `PROCESS.START.NAMESPACE.UUID`. Identifiers of processes are used again, so the time at which a process was
/// started belongs to it, and they mean something in their namespace alone: a container has its own. The namespace names
/// the start of the machine, too, because those of two machines have equal numbers.
package enum LeaseOwner {
  /// Makes a name that no other owner has.
  package static func make() -> String {
    let id = UUID().uuidString
    guard let namespace = self.namespace, let start = self.start(of: getpid()) else { return id }
    return "\(getpid()).\(start).\(namespace).\(id)"
  }

  /// Whether the process of an owner has ended.
  ///
  /// - Parameter owner: The owner of a lease.
  /// - Returns: False as well if that cannot be known, such as for a process of another machine or container.
  package static func hasEnded(_ owner: String) -> Bool {
    let parts = owner.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 4, let process = pid_t(parts[0]), process > 0, let namespace = self.namespace,
      parts[2] == namespace
    else { return false }
    if kill(process, 0) != 0 { return errno == ESRCH }
    // Another process may have got its identifier. What may not be read lives.
    return self.start(of: process).map { $0 != parts[1] } ?? false
  }

  /// When a process was started, since the start of the machine; nil if that cannot be read.
  private static func start(of process: pid_t) -> String? {
    #if os(Linux)
      guard let text = self.text(of: "/proc/\(process)/stat"), let name = text.lastIndex(of: ")") else { return nil }
      // The name, which may contain anything, is the second of the fields, and the time is the 22nd.
      let fields = text[name...].split(separator: " ")
      return fields.count > 20 ? String(fields[20]) : nil
    #else
      return nil
    #endif
  }

  /// Identifies the processes that have identifiers of their own.
  private static let namespace: String? = {
    #if os(Linux)
      var bytes = [UInt8](repeating: 0, count: 64)
      let count = bytes.withUnsafeMutableBytes { buffer in
        buffer.baseAddress.map {
          readlink("/proc/self/ns/pid", $0.assumingMemoryBound(to: CChar.self), buffer.count)
        } ?? 0
      }
      // pid:[4026531836]
      let digits = bytes.prefix(max(count, 0)).filter { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
      guard !digits.isEmpty, let start = LeaseOwner.text(of: "/proc/sys/kernel/random/boot_id") else { return nil }
      let boot = start.utf8.filter { $0 > UInt8(ascii: " ") }
      return String(decoding: digits + [UInt8(ascii: "-")] + boot, as: UTF8.self)
    #else
      return nil
    #endif
  }()

  private static func text(of path: String) -> String? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    if descriptor < 0 { return nil }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 4_096)
    let count = read(descriptor, &bytes, bytes.count)
    return count > 0 ? String(decoding: bytes.prefix(count), as: UTF8.self) : nil
  }
}
