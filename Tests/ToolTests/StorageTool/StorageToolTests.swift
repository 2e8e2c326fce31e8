#if SwiftOperationSQLite && os(Linux)
  import Foundation
  import OperationPersistence
  import OperationSQLite
  import OperationStorageTool
  import OperationTesting
  import TestFixtures
  import Testing

  @Suite(.bounded, .warningsAreIssues) struct StorageToolTests {
    private let file: ToolFile

    init() async throws {
      self.file = try ToolFile()
      try await self.file.fill()
    }

    /// The lines behind the first one, which has a path and a size.
    private func lines(_ result: StorageCommand.Result) -> [String] {
      result.output.split(separator: "\n", omittingEmptySubsequences: false).dropFirst().map(String.init)
    }

    // MARK: - Listing

    @Test func `Names are listed with counts, sizes and ages, and calls with their states`() async throws {
      let result = try await self.file.run(self.file.path)
      expect(result.status, equals: 0)
      expect(result.problem, equals: "")
      #expect(result.output.hasPrefix("\(self.file.path): SQLite storage, schema 4, "))
      expect(
        self.lines(result),
        equals: [
          "",
          "values  count  size   oldest  newest",
          "post    2      238 B  2 d     1 s",
          "user    1      121 B  2 h     2 h",
          "calls         count  size   oldest  newest",
          "(unreadable)  1      6 B",
          "rename        2      278 B  1 min   1 min",
          "others   count  size  oldest  newest",
          "(other)  1      2 B",
          "",
          "call    status                   scope  age    key",
          "rename  waiting, 2 attempts      notes  1 min  k1",
          "rename  dead letter, 5 attempts  notes  1 min  k2",
          "?       unreadable                             journal/00000000000000000003-k3",
          "",
        ]
      )
    }

    @Test func `What is scheduled is listed with the time until the next call, and exported`() async throws {
      let file = try ToolFile()
      let storage = try file.open()
      func put(_ name: String, _ json: String) -> StorageChange {
        .put(key: "journal/=schedule=/\(name)", value: Array(json.utf8))
      }
      try await storage.apply([
        put(
          "clean%20up",
          #"{"format":1,"name":"clean up","id":"k1","call":"clean-up","arguments":"\"secret\"","scheduledAt":199940,"#
            + #""start":203600,"interval":3600,"next":1,"longestWait":3600}"#
        ),
        put(
          "k2",
          #"{"format":1,"name":"k2","id":"k2","call":"remind","scope":"snotes/","arguments":"1","scheduledAt":0,"#
            + #""start":199000,"next":0}"#
        ),
        put("later", #"{"format":2}"#),
      ])
      await storage.close()
      func words(_ result: StorageCommand.Result) -> [String] {
        self.lines(result).map { $0.split(separator: " ").joined(separator: " ") }
      }
      expect(
        words(try await file.run(file.path)),
        equals: [
          "", "", "schedule call every next key", "clean up clean-up 1 h in 2 h k1",
          "k2 remind once 16 min 40 s ago k2", "? ? once journal/=schedule=/later", "",
        ]
      )
      let entries = words(try await file.run("list", file.path, "--entries"))
      #expect(
        entries.contains("schedule clean-up 1 163 B 1 min next in 2 h journal/=schedule=/clean%20up"),
        "\(entries)"
      )
      #expect(entries.contains("schedule 12 B unreadable journal/=schedule=/later"), "\(entries)")
      let export = try await file.run("export", file.path).output
      #expect(
        export.contains(#""interval":3600,"key":"journal/=schedule=/clean%20up","kind":"schedule","name":"clean-up""#)
      )
      #expect(export.contains(#""dueAt":"2001-01-03T09:33:20Z""#), "\(export)")
      #expect(!export.contains("secret"))
      try await expect(file.run("check", file.path).status, equals: 2)
      let removed = try await file.run("remove", file.path, "--name", "clean-up")
      expect(removed.output, equals: "removed 1 of 3 entries\n")
    }

    @Test func `Each entry is listed on demand, with its value only on demand`() async throws {
      let plain = try await self.file.run("list", self.file.path, "--entries")
      expect(self.lines(plain).count, equals: 7 + 3)
      #expect(
        plain.output.contains(
          "value  user    users/a/b  2        121 B  2 h                             value/susers/sa%2Fb/=user=\n"
        )
      )
      #expect(!plain.output.contains("secret"))
      let shown = try await self.file.run("list", self.file.path, "--values")
      for word in ["first", "second", "third", "fourth", "fifth"] { #expect(shown.output.contains("\(word) secret")) }
      #expect(shown.output.contains("    base64 /wE=\n"))
    }

    @Test func `What would control a terminal is not shown`() async throws {
      let storage = try self.file.open()
      try await storage.apply([.put(key: "evil\u{1B}[2J", value: Array("a\u{1B}]0;b\u{7}\n\u{202E}c".utf8))])
      await storage.close()
      for arguments in [["list", "--entries"], ["list", "--values"]] {
        let result = try await self.file.run(arguments[0], self.file.path, arguments[1])
        #expect(!result.output.unicodeScalars.contains { $0 == "\u{1B}" || $0 == "\u{7}" || $0 == "\u{202E}" })
      }
    }

    @Test func `Neither a name nor a value leaves the tables of a sealed storage`() async throws {
      let file = try ToolFile()
      let storage = try file.open()
      try await storage.apply([
        .put(key: "sealed-value/k/t/", value: [1, 2]), .put(key: "sealed-journal/k/t", value: [1]),
        .put(key: "sealed-key/k", value: [1]),
      ])
      await storage.close()
      let result = try await file.run(file.path)
      expect(
        self.lines(result),
        equals: [
          "", "others          count  size  oldest  newest", "(sealed call)   1      1 B", "(sealed value)  1      2 B",
          "(sealed)        1      1 B", "",
        ]
      )
    }

    @Test func `Listing, checking and exporting change nothing`() async throws {
      let before = try self.file.files
      for verb in ["list", "check", "export"] {
        _ = try await self.file.run(verb, self.file.path)
        try expect(self.file.files, equals: before)
      }
      // Also a file that nobody may write, in a folder where nothing can be made.
      chmod(self.file.path, 0o400)
      chmod(self.file.folder, 0o500)
      defer { chmod(self.file.folder, 0o700) }
      try await expect(self.file.run(self.file.path).status, equals: 0)
    }

    @Test func `The newest values are listed, which only the log of a killed process has`() async throws {
      let storage = try self.file.open()
      try await storage.apply([.put(key: "value/=late=", value: Array("value1 1 0\n{}".utf8))])
      let copy = try ToolFile()
      for (name, data) in try self.file.files { try data.write(to: URL(filePath: copy.folder + "/" + name)) }
      await storage.close()
      let result = try await copy.run(copy.path)
      #expect(result.output.contains("late    1      13 B"))
      #expect(try await !copy.run("check", copy.path).output.contains("damaged"))
    }

    // MARK: - Exporting

    @Test func `Every entry is exported as a line of JSON, with its value only on demand`() async throws {
      struct Line: Decodable, Equatable {
        var key: String
        var kind: String
        var size: Int
        var name: String?
        var path: String?
        var version: Int?
        var date: String?
        var id: String?
        var status: String?
        var attempts: Int?
        var value: String?
        var valueInBase64: String?
      }
      func lines(_ arguments: String...) async throws -> [Line] {
        let command = try #require(StorageCommand(arguments))
        let output = await command.perform(now: ToolFile.now).output
        return try output.split(separator: "\n").map { try JSONDecoder().decode(Line.self, from: Data($0.utf8)) }
      }
      let plain = try await lines("export", self.file.path)
      expect(plain.count, equals: 7)
      #expect(plain.allSatisfy { $0.value == nil && $0.valueInBase64 == nil })
      expect(
        plain[0],
        equals: Line(
          key: "journal/00000000000000000001-k1",
          kind: "call",
          size: plain[0].size,
          name: "rename",
          path: "notes",
          version: 1,
          date: "2001-01-03T07:32:20Z",
          id: "k1",
          status: "waiting",
          attempts: 2
        )
      )
      let full = try await lines("export", self.file.path, "--values")
      expect(full.map(\.key), equals: plain.map(\.key))
      expect(full[0].value, equals: "\"fourth secret\"")
      expect(full[3].valueInBase64, equals: "/wE=")
    }

    // MARK: - Removing

    @Test func `Entries are removed by key and by name`() async throws {
      let key = "journal/00000000000000000003-k3"
      let result = try await self.file.run("remove", self.file.path, "--key", key, "--name", "post")
      expect(result.output, equals: "removed 3 of 7 entries\n")
      #expect(result.problem == "" && result.status == 0)
      let storage = try self.file.open()
      let keys = try await storage.entries(withPrefix: "").map(\.key)
      await storage.close()
      expect(
        keys,
        equals: [
          "journal/00000000000000000001-k1", "journal/00000000000000000002-k2", "mine", "value/susers/sa%2Fb/=user=",
        ]
      )
    }

    @Test func `What is not there is not removed`() async throws {
      let before = try self.file.files
      let result = try await self.file.run("remove", self.file.path, "--name", "Post", "--key", "min")
      expect(result.status, equals: 1)
      #expect(result.problem.contains("has no such entry"))
      try expect(self.file.files, equals: before)
    }

    // MARK: - Refusing

    @Test func `A file in use is refused, by each command`() async throws {
      let storage = try self.file.open()
      let arguments = [["list"], ["check"], ["export"], ["repair"], ["remove", "--name", "post"]]
      for words in arguments {
        let command = try #require(StorageCommand([words[0], self.file.path] + words.dropFirst()))
        let result = await command.perform(now: ToolFile.now)
        expect(result.status, equals: 1)
        #expect(result.problem.contains("\(self.file.path) is in use by a process"))
        expect(result.output, equals: "")
        // The program, in a process of its own.
        let program = try await self.file.runProgram(words[0], self.file.path)
        expect(program.status, equals: (words[0] == "remove" ? 64 : 1))
        if words[0] != "remove" { #expect(program.problem.contains("is in use by a process")) }
      }
      try await expect(storage.entries(withPrefix: "").count, equals: 7)
      await storage.close()
      try await expect(self.file.run(self.file.path).status, equals: 0)
    }

    @Test func `What is no storage is refused, and left as it is`() async throws {
      let file = try ToolFile()
      let large = Data((0..<20_000).map { UInt8(truncatingIfNeeded: $0) })
      for content in [Data(), Data("hello".utf8), large, Data("SQLite format 3\0".utf8)] {
        try content.write(to: URL(filePath: file.path))
        for verb in ["list", "check", "export", "repair"] {
          let result = try await file.run(verb, file.path)
          expect(result.status, equals: 1)
          #expect(result.problem.contains("is no storage of this library"))
        }
        try expect(file.files, equals: ["state.sqlite": content])
      }
      for path in [file.folder, file.folder + "/none"] {
        let result = try await file.run(path)
        expect(result.status, equals: 1)
        #expect(result.problem.contains("\(path) cannot be read"))
      }
    }

    @Test func `A storage of a newer library is refused`() async throws {
      var data = try Data(contentsOf: URL(filePath: self.file.path))
      data[63] = 99
      try data.write(to: URL(filePath: self.file.path))
      for verb in ["list", "repair"] {
        let result = try await self.file.run(verb, self.file.path)
        expect(result.status, equals: 1)
        #expect(result.problem.contains("has the schema 99"))
      }
    }

    // MARK: - Damage

    @Test func `A damaged file is listed as far as it can be read, found by the check, and repaired`() async throws {
      let storage = try self.file.open()
      let text = String(repeating: "x", count: 900)
      let value = Array("value1 1 0\n\"\(text)\"".utf8)
      try await storage.apply((10..<90).map { .put(key: "value/snotes/i\($0)/=note=", value: value) })
      await storage.close()
      let sound = try Data(contentsOf: URL(filePath: self.file.path))
      let place = try #require(sound.range(of: Data(text.utf8))?.lowerBound)
      var damaged = sound
      damaged[place + 100] ^= 1
      try damaged.write(to: URL(filePath: self.file.path))

      let list = try await self.file.run(self.file.path)
      expect(list.status, equals: 0)
      #expect(list.output.contains(", damaged\ndamaged: "))
      #expect(list.output.contains("note    79     "))
      let check = try await self.file.run("check", self.file.path)
      expect(check.status, equals: 2)
      #expect(check.output.contains("the bytes of value/snotes/i"))
      try expect(Data(contentsOf: URL(filePath: self.file.path)), equals: damaged)
      #expect(try await self.file.run("remove", self.file.path, "--name", "note").problem.contains("Repair it first."))

      let repair = try await self.file.run("repair", self.file.path)
      expect(repair.status, equals: 0)
      #expect(repair.output.contains("It was set aside as \(self.file.path).damaged-1."))
      try expect(self.file.files["state.sqlite.damaged-1"], equals: damaged)
      let again = try await self.file.run("check", self.file.path)
      expect(again.status, equals: 2)
      #expect(again.output.contains("cannot be read by this version of the library"))
      #expect(try await self.file.run("repair", self.file.path).output.hasSuffix("is sound, and is left as it is\n"))
    }

    @Test(arguments: 0..<24) func `Damage at any place is found, or harms nothing`(seed: Int) async throws {
      var data = try Data(contentsOf: URL(filePath: self.file.path))
      let before = try await self.file.run("export", self.file.path, "--values").output
      let place = data.count * seed / 24 + seed * 37 % 128
      for offset in 0..<64 where place + offset < data.count { data[place + offset] ^= 0xA5 }
      try data.write(to: URL(filePath: self.file.path))
      let check = try await self.file.run("check", self.file.path)
      if check.status == 0 {
        try await expect(
          self.file.run("export", self.file.path, "--values").output,
          equals: before
        )
      }
      #expect(check.status != 1 || check.problem.contains("is no storage") || check.problem.contains("has the schema"))
      try expect(Data(contentsOf: URL(filePath: self.file.path)), equals: data)
    }

    // MARK: - The program

    @Test func `The program prints its help, its output and its problems, and exits with its status`() async throws {
      let help = try await self.file.runProgram("--help")
      #expect(help.output == StorageCommand.usage && help.status == 0)
      let wrong = try await self.file.runProgram("list")
      expect(wrong.status, equals: 1)
      #expect(wrong.problem.hasPrefix("operation-storage: list cannot be read"))
      let usage = try await self.file.runProgram()
      #expect(usage.problem == StorageCommand.usage && usage.status == 64)
      let check = try await self.file.runProgram("check", self.file.path)
      expect(check.status, equals: 2)
      expect(check.output, equals: "journal/00000000000000000003-k3 cannot be read by this version of the library\n")
      #expect(try await self.file.runProgram(self.file.path).output.contains("\npost  "))
    }
  }
#endif
