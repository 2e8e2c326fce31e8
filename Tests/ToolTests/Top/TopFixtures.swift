import OperationTop

extension TopMessage {
  /// A message as a program sends it.
  static func message(_ json: String) throws -> TopMessage {
    guard let message = TopMessage(json: Array(json.utf8)) else { throw Unreadable(json: json) }
    return message
  }
}

struct Unreadable: Error {
  let json: String
}

extension TopModel {
  /// A program with a few stores, at the time 100.
  static func shop() throws -> TopModel {
    var model = TopModel()
    model.apply(
      try .message(#"{"type":"hello","version":1,"program":"shop","process":42,"live":true,"actions":true,"date":90}"#)
    )
    let rows = [
      row(
        1,
        #"["\"posts\"","10"]"#,
        status: "success",
        more: #","canBeStale":true,"subscribers":2,"errors":0,"valueDate":88"#
      ),
      row(
        2,
        #"["\"posts\"","9"]"#,
        status: "failure",
        more: #","canBeStale":true,"subscribers":0,"errors":7,"valueDate":40"#
      ),
      row(3, #"["\"feed\""]"#, status: "loading", more: #","canBeStale":true,"subscribers":1,"errors":1,"attempt":2"#),
      row(4, #"["\"orders\""]"#, status: "success", more: #","subscribers":0,"errors":0,"valueDate":99"#),
      row(
        5,
        #"["\"stock\""]"#,
        status: "loading",
        more: #","canBeStale":true,"paused":true,"subscribers":1,"errors":0"#
      ),
    ]
    model.apply(try .message(#"{"type":"update","date":100,"stores":[\#(rows.joined(separator: ","))]}"#))
    model.apply(try .message(#"{"type":"update","date":100,"ready":true}"#))
    return model
  }

  private static func row(_ id: Int, _ path: String, status: String, more: String) -> String {
    #"{"id":\#(id),"path":\#(path),"operation":"Query\#(id)","kind":"query","status":"\#(status)","values":1\#(more)}"#
  }
}
