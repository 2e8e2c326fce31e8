import OperationPathKeyGeneration
import TestFixtures
import Testing

@Suite(.bounded)
struct TextTests {
  private let valid = "{ paths: { me: { state: 'S' } } }"

  private func found(_ bytes: [UInt8]) -> [String] {
    diagnostics([SourceFile(path: "A.json", bytes: bytes)]).map(\.description)
  }

  @Test
  func `A byte order mark is skipped and takes no column`() {
    #expect(self.found([0xEF, 0xBB, 0xBF] + self.valid.utf8).isEmpty)
    expect(
      self.found([0xEF, 0xBB, 0xBF] + "[]".utf8),
      equals: ["A.json:1:1: error: the file is an array; expected an object"]
    )
  }

  @Test(arguments: ["\n", "\r\n", "\r"])
  func `Lines end as on any system`(end: String) {
    let text = ["{", "// a comment", "  paths: {", "    me: 1,", "  },", "}"].joined(separator: end)
    expect(messages(text).first?.hasPrefix("A.json:4:9: error: 'me' is a number"), equals: true)
  }

  @Test
  func `A column is a byte, as it is for the compiler`() {
    expect(messages("{ /* é */ paths: 1 }"), equals: ["A.json:1:19: error: 'paths' is a number; expected an object"])
  }

  @Test(
    arguments: [
      [0xFF], [0x80], [0xC3], [0xC0, 0x80], [0xE0, 0x80, 0x80], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80],
      [0xF8, 0x88, 0x80, 0x80, 0x80],
    ] as [[UInt8]]
  )
  func `Bytes that are not text are reported at their place, once for each sequence`(bytes: [UInt8]) {
    let byte = String(bytes[0], radix: 16, uppercase: true)
    let found = self.found(Array("{\n  é".utf8) + bytes + Array("é".utf8) + [0xFE])
    expect(found.count, equals: 2)
    expect(found.first, equals: "A.json:2:5: error: the byte 0x\(byte) is not UTF-8; save the file as UTF-8")
  }

  @Test
  func `Text in another encoding is named`() {
    let wide = self.valid.utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
    expect(self.found([0xFF, 0xFE] + wide), equals: ["A.json:1:1: error: the file is UTF-16; save it as UTF-8"])
  }

  @Test
  func `A huge file is refused`() {
    let size = 16 * 1024 * 1024 + 1
    expect(
      self.found(Array(repeating: 0x20, count: size)),
      equals: [
        "A.json:1:1: error: the file has \(size) bytes, more than the \(size - 1) that are read; "
          + "split it into several files of the target"
      ]
    )
  }

  @Test
  func `A million brackets do not overflow the stack`() {
    let text = String(repeating: "[", count: 1_000_000)
    let found = diagnostics(sources([text]))
    expect(found.map { "\($0.column) \($0.code)" }, equals: ["1 wrongKind", "64 unclosed", "65 tooDeep"])
  }

  @Test
  func `All of JSON5 is understood`() throws {
    let text = """
      // A comment,
      /* another
         one */
      {
        "paths": {
          'quoted': { "state": 'Dictionary<\\x53tring, \\
      Int>', },
          été: { state: "\\u0053" },
        },
        context: { tab: { type: 'String', default: '"\\\\t\\'"', doc: 'It\\'s\\na tab', }, },
        imports: ['Models',],
      }
      """
    let code = try PathKeyGenerator.generate(from: sources([text]), importing: "OperationCore")
    #expect(code.contains("var quoted: OperationPathKey<Dictionary<String, Int>>"))
    #expect(code.contains("var été: OperationPathKey<S>"))
    #expect(code.contains("= \"\\t'\" }"))
    #expect(code.contains("/// It's\n  /// a tab\n"))
  }

  @Test(arguments: [
    "1", "-1", "+.5", "5.", "0xFf", "1e9", "1.5E-3", "Infinity", "-Infinity", "NaN", "true", "null", "[1, [], {}]",
  ])
  func `Values of all kinds are read, although no field has them`(value: String) {
    expect(messages("{ access: \(value), paths: { me: { state: 'S' } } }").count, equals: 1)
    #expect(messages("{ access: \(value), paths: { me: { state: 'S' } } }").allSatisfy { $0.contains("'access' is ") })
  }

  @Test(arguments: ["01", "1.", "-", "+", ".", "1e", "0x", "1a", "-x"])
  func `An invalid number is reported`(value: String) {
    let codes = diagnostics(sources(["{ access: \(value), paths: { me: { state: 'S' } } }"])).map(\.code)
    expect(codes, equals: (value == "1." ? [.wrongKind] : [.invalidNumber]))
  }

  @Test
  func `Names that are canonically equivalent are the same name`() {
    // The same letter, as one character and as two.
    let found = diagnostics(sources(["{ paths: { caf\u{E9}: { state: 'S' }, cafe\u{301}: { state: 'S' } } }"]))
    expect(found.map(\.code), equals: [.duplicateName])
  }
}
