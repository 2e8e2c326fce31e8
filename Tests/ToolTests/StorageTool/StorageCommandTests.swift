#if SwiftOperationSQLite && os(Linux)
  import OperationStorageTool
  import TestFixtures
  import Testing

  @Suite(.bounded) struct StorageCommandTests {
    @Test(arguments: [
      (["a"], StorageCommand.Action.list(entries: false)),
      (["list", "a"], .list(entries: false)),
      (["list", "a", "--entries"], .list(entries: true)),
      (["check", "a"], .check),
      (["export", "a"], .export),
      (["repair", "a"], .repair),
      (["remove", "a", "--key", "k", "--name", "n", "--key", "--l"], .remove(keys: ["k", "--l"], names: ["n"])),
      // Files with the names of verbs.
      (["check"], .list(entries: false)),
      (["list", "list"], .list(entries: false)),
    ]) func `Arguments are read`(arguments: [String], action: StorageCommand.Action) throws {
      let command = try #require(StorageCommand(arguments))
      expect(command.action, equals: action)
      #expect(!command.showsValues)
    }

    @Test(arguments: [
      [], ["--help"], ["-x", "a"], ["list", "--entries"], ["list", "a", "b"], ["check", "a", "--values"],
      ["repair", "a", "--entries"], ["remove", "a"], ["remove", "a", "--key"], ["remove", "a", "k"],
      ["a", "--name", "n"],
    ]) func `Wrong arguments are refused`(arguments: [String]) {
      expect(StorageCommand(arguments), equals: nil)
    }

    @Test func `Values are shown on demand only`() throws {
      for verb in ["list", "export"] {
        #expect(try #require(StorageCommand([verb, "a", "--values"])).showsValues)
        #expect(try !#require(StorageCommand([verb, "a"])).showsValues)
      }
    }
  }
#endif
