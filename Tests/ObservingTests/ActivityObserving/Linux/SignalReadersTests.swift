#if os(Linux)
  import Foundation
  import TestFixtures
  import Testing

  @testable import OperationActivityObserving

  /// Event sources are found by the open descriptors of the process, however Dispatch is linked.
  @Suite(.bounded) struct SignalReadersTests {
    @Test func `The signals of a descriptor are parsed`() {
      let text = "pos:\t0\nflags:\t02004002\nmnt_id:\t15\nsigmask:\t0000000000020000\n"
      expect(SignalReaders.mask(parsing: text), equals: 1 << (18 - 1))
      expect(SignalReaders.mask(parsing: "pos:\t0\nflags:\t0100002\n"), equals: 0)
      expect(SignalReaders.mask(parsing: "sigmask:\tnone\n"), equals: 0)
      expect(SignalReaders.mask(parsing: ""), equals: 0)
    }

    @Test func `A signal that is read from a descriptor is found among all that are open`() throws {
      let root = FileManager.default.temporaryDirectory.appendingPathComponent("readers-\(UUID().uuidString)")
      defer { try? FileManager.default.removeItem(at: root) }
      let folder = root.appendingPathComponent("self/fdinfo")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      let (plain, reader) = (folder.appendingPathComponent("0"), folder.appendingPathComponent("9"))
      try "pos:\t0\n".write(to: plain, atomically: true, encoding: .utf8)
      #expect(!SignalReaders.exist(for: .cont, procRoot: root.path))
      try "sigmask:\t0000000000020000\n".write(to: reader, atomically: true, encoding: .utf8)
      #expect(SignalReaders.exist(for: .cont, procRoot: root.path))
      #expect(!SignalReaders.exist(for: .usr1, procRoot: root.path))
      #expect(!SignalReaders.exist(for: .cont, procRoot: root.path + "/nowhere"))
    }
  }
#endif
