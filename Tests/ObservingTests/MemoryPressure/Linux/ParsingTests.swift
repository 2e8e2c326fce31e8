#if os(Linux)
  import OperationControlGroups
  import TestFixtures
  import Testing

  @testable import OperationMemoryPressure

  /// Parsers of the files of the kernel and of the variables of a service manager.
  @Suite(.bounded) struct ParsingTests {
    @Test func `The totals of a pressure file are parsed`() {
      let text = """
        some avg10=0.12 avg60=3.00 avg300=0.00 total=1234567
        full avg10=0.00 avg60=0.00 avg300=0.00 total=89

        """
      let totals = StallTotals(parsing: text)
      expect(totals?[.some], equals: 1_234_567)
      expect(totals?[.full], equals: 89)
      expect(StallTotals(parsing: "some avg10=0.12 total=7")?[.full], equals: nil)
      for text in ["", "some", "some total=", "some total=-1", "none total=1", "some total=18446744073709551616"] {
        expect(StallTotals(parsing: text), equals: nil, "\(text)")
      }
    }

    @Test func `Names with numbers are parsed`() {
      let events = KeyedNumbers(parsing: "low 0\nhigh 12\nmax 18446744073709551615\noom max\n\nx\n")
      expect(events["high"], equals: 12)
      expect(events["max"], equals: .max)
      expect(events["oom"], equals: nil)
      let memory = KeyedNumbers(parsing: "MemTotal:       16314184 kB\nHugePages_Total:       0\n")
      expect(memory["MemTotal"], equals: 16_314_184)
      expect(memory["HugePages_Total"], equals: 0)
    }

    @Test func `Mounts are parsed, with any optional fields`() throws {
      let plain = try #require(
        MountPoint(parsing: "41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw,nsdelegate")
      )
      expect(plain.root, equals: "/")
      expect(plain.path, equals: "/sys/fs/cgroup/unified")
      expect(plain.type, equals: "cgroup2")
      #expect(plain.options.contains("nsdelegate"))
      let shared = MountPoint(
        parsing: #"41 31 0:38 /a\040b /mnt/back\134slash\011tab rw shared:5 master:2 - cgroup cgroup rw,memory"#
      )
      expect(shared?.root, equals: "/a b")
      expect(shared?.path, equals: "/mnt/back\\slash\ttab")
      expect(shared?.options.contains("memory"), equals: true)
      expect(MountPoint(parsing: "41 31 0:38 / /dash-\\99x - rw - tmpfs")?.type, equals: "tmpfs")
      for line in ["", "41 31 0:38 / /x rw", "41 31 0:38 / /x rw shared:5", "41 31 0:38 / /x rw -"] {
        expect(MountPoint(parsing: Substring(line)), equals: nil, "\(line)")
      }
    }

    @Test func `Groups are parsed, with colons in their names`() {
      let all = GroupMembership.all(
        parsing: "4:cpu,memory:/a:b\n0::/user.slice/x (deleted)\n1:name=systemd:/\nx::/\n0::x\n"
      )
      expect(all.map(\.path), equals: ["/a:b", "/user.slice/x", "/"])
      expect(all.map(\.isUnified), equals: [false, true, false])
      expect(all.first?.controllers, equals: ["cpu", "memory"])
    }

    @Test(arguments: [
      ("c29tZSAyMDAwMDAgMjAwMDAwMAA=", Array("some 200000 2000000".utf8) + [0]),
      ("", []), ("AA==", [0]), ("//79", [255, 254, 253]), ("AP8A", [0, 255, 0]),
    ])
    func `The bytes in an environment variable are decoded`(_ text: String, _ bytes: [UInt8]) {
      expect(Base64.decode(text), equals: bytes)
    }

    @Test(arguments: ["A", "AA", "AAA", "A===", "====", "AA=A", "AB==", "AAAB AAA", "c29tZS\n=", "ä==="])
    func `Invalid Base64 is refused`(_ text: String) {
      expect(Base64.decode(text), equals: nil)
    }

    @Test func `A trigger is written with a byte to overwrite at its end, and parsed again`() {
      expect(StallThreshold.warning.bytes, equals: Array("some 150000 2000000".utf8) + [0])
      expect(StallThreshold.critical.bytes, equals: Array("full 100000 2000000".utf8) + [0])
      expect(StallThreshold(parsing: StallThreshold.critical.bytes), equals: .critical)
      expect(StallThreshold(parsing: "some 150000 2000000\n".utf8), equals: .warning)
      expect(StallThreshold(parsing: "some 150000".utf8), equals: nil)
      expect(StallThreshold(parsing: "any 1 2".utf8), equals: nil)
    }

    @Test(arguments: UInt64(1)...10)
    func `Random texts are parsed without harm`(_ seed: UInt64) {
      let samples = [
        "some avg10=0.00 avg60=0.00 avg300=0.00 total=0\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n",
        "low 0\nhigh 12\nmax 3\noom 0\noom_kill 0\noom_group_kill 0\n",
        "41 31 0:38 /\\040 /sys/fs/cgroup/unified rw,relatime shared:5 - cgroup2 cgroup2 rw\n",
        "4:memory:/user.slice\n0::/user.slice/app.service (deleted)\n",
        "c29tZSAyMDAwMDAgMjAwMDAwMAA=", "some 150000 2000000\0",
      ]
      var generator = SeededGenerator(seed: seed)
      for round in 0..<ModelRuns.count(400, parts: 5) {
        var bytes = Array(samples[round % samples.count].utf8)
        if round.isMultiple(of: 5) { bytes = (0..<Int.random(in: 0..<200, using: &generator)).map { _ in 0 } }
        for _ in 0..<Int.random(in: 1...12, using: &generator) { mutate(&bytes, using: &generator) }
        let text = String(decoding: bytes, as: UTF8.self)
        _ = StallTotals(parsing: text)
        _ = KeyedNumbers(parsing: text)
        if let decoded = Base64.decode(text) { #expect(decoded.count <= bytes.count) }
        let mounts = MountPoint.all(parsing: text)
        let memberships = GroupMembership.all(parsing: text)
        #expect(mounts.count + memberships.count <= 2 * (bytes.count { $0 == 10 } + 1))
        let groups = MemoryGroups(memberships: memberships, mounts: mounts, cgroupRoot: nil)
        if let unified = groups.unified { #expect(!unified.directories.isEmpty) }
        if let threshold = StallThreshold(parsing: bytes) {
          expect(StallThreshold(parsing: threshold.bytes), equals: threshold)
        }
      }
    }

    private func mutate(_ bytes: inout [UInt8], using generator: inout SeededGenerator) {
      let place = Int.random(in: 0...bytes.count, using: &generator)
      switch Int.random(in: 0..<4, using: &generator) {
      case 0: bytes.insert(.random(in: 0...255, using: &generator), at: place)
      case 1 where place < bytes.count: bytes[place] = .random(in: 0...255, using: &generator)
      case 2 where place < bytes.count: bytes.removeSubrange(place..<min(bytes.count, place + 7))
      default: bytes.insert(contentsOf: bytes.prefix(place), at: place)
      }
      if bytes.count > 4_000 { bytes.removeLast(bytes.count - 4_000) }
    }
  }
#endif
