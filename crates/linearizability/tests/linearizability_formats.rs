//! Histories as Jepsen and Porcupine write them, and as traces have them.

use foretrace_linearizability::{
    History, Limits, Sequential, Spec, Verdict, check, minimal, picture, read_text, read_trace,
};
use foretrace_trace::{Data, TraceBuilder};

fn read(text: &str) -> History {
    read_text(text).expect("the history can be read")
}

fn verdict(text: &str, spec: Spec) -> Verdict {
    check(&read(text), spec, None, Limits::NONE).expect("the methods are known").verdict
}

/// Process 1 reads 0 after process 0 wrote 1 and returned.
const EDN: &str = r#"
[{:process 0, :type :invoke, :f :write, :value 1}
 {:process 0, :type :ok, :f :write, :value 1}
 {:process 1, :type :invoke, :f :read, :value nil} ; a comment
 {:process 1, :type :ok, :f :read, :value 0}]
"#;

#[test]
fn edn_histories_are_read() {
    assert_eq!(verdict(EDN, Spec::Register), Verdict::NotLinearizable);
    assert_eq!(verdict(&EDN.replace(":value 0}", ":value 1}"), Spec::Register), Verdict::Linearizable);
    // The write failed, or its end is not known: then it may or may not have happened.
    let failed = EDN.replace(":process 0, :type :ok", ":process 0, :type :fail");
    assert_eq!(verdict(&failed, Spec::Register), Verdict::Linearizable);
    let unknown = EDN.replace(":process 0, :type :ok", ":process 0, :type :info");
    assert_eq!(verdict(&unknown, Spec::Register), Verdict::Linearizable);
}

#[test]
fn lines_of_jepsens_log_are_read() {
    let log = "INFO  jepsen.util - 0\t:invoke\t:cas\t[0 3]\nINFO  jepsen.util - 0\t:ok\t:cas\t[0 3]\n\
               INFO  jepsen.util - 1\t:invoke\t:read\tnil\nINFO  jepsen.util - 1\t:ok\t:read\t3\n";
    let history = read(log);
    assert_eq!((history.operations.len(), history.operations[0].args.len()), (2, 2));
}

#[test]
fn json_lines_are_read_in_both_forms() {
    let calls = r#"{"process": 0, "type": "invoke", "f": "write", "value": 1}
{"process": 0, "type": "ok", "f": "write", "value": 1}
{"process": 1, "type": "invoke", "f": "read", "value": null}
{"process": 1, "type": "ok", "f": "read", "value": 0}"#;
    assert_eq!(read(calls), read(EDN));
    let whole = r#"{"ClientId": 0, "Input": {"op": "write", "args": [1]}, "Call": 0, "Output": null, "Return": 10}
{"ClientId": 1, "Input": {"op": "read"}, "Call": 20, "Output": 0, "Return": 30}
"#;
    assert_eq!(verdict(whole, Spec::Register), Verdict::NotLinearizable);
    let overlapping = whole.replace("\"Return\": 10", "\"Return\": 25");
    assert_eq!(verdict(&overlapping, Spec::Register), Verdict::Linearizable);
}

#[test]
fn keys_are_judged_one_by_one() {
    let text = r#"{:process 0, :type :invoke, :f :write, :key "a", :value "x"}
{:process 0, :type :ok, :f :write, :key "a", :value "x"}
{:process 1, :type :invoke, :f :read, :key "b", :value nil}
{:process 1, :type :ok, :f :read, :key "b", :value nil}"#;
    assert_eq!(verdict(text, Spec::Register), Verdict::Linearizable);
}

#[test]
fn what_cannot_be_read_is_named_by_line() {
    for (text, line) in [
        ("{:process 0, :type :invoke, :f :read, :value nil}\n{:process 0, :type :what, :f :read}", 2),
        ("{\"process\": 0, \"type\": \"ok\", \"f\": \"read\", \"value\": 1}", 1),
        ("{\"process\": 0, \"f\": \"read\"}", 1),
        ("{\"process\": 0, \n", 1),
        ("{:process 0, :type :invoke, :f \"read", 1),
        ("{:process 0 :type", 1),
        ("0 :invoke", 1),
    ] {
        let error = read_text(text).expect_err(text);
        assert_eq!(error.line, line, "{text}: {error}");
    }
    let bad = check(&read(EDN), Spec::Stack, None, Limits::NONE).map(|_| ()).expect_err("a stack has no write");
    assert!(bad.to_string().contains("expected a method of a stack: push(v), pop, peek"), "{bad}");
}

/// Nested calls and pending ones of a trace.
#[test]
fn operations_of_traces_are_read() {
    let mut builder = TraceBuilder::new(Data::None);
    builder.call(1, "push");
    builder.call(2, "pop");
    builder.call(1, "inner");
    builder.ret(1, "inner");
    builder.ret(1, "push");
    let history = read_trace(&builder.build().expect("the trace is valid"));
    let shown: Vec<String> = history.operations.iter().map(ToString::to_string).collect();
    assert_eq!(shown, ["push() → ?", "pop() …", "inner() → ?"]);
}

/// Fig. 2 of "Root Causing Linearizability Violations" (CAV 2020): both pops return what was pushed once. The push that
/// nothing rests on is left out.
#[test]
fn the_papers_stack_is_explained_and_drawn() {
    let text = r#"{"process": 1, "call": 1, "return": 20, "method": "push", "args": ["a"]}
{"process": 2, "call": 2, "return": 3, "method": "push", "args": ["b"]}
{"process": 2, "call": 4, "return": 10, "method": "pop", "result": "b"}
{"process": 3, "call": 5, "return": 11, "method": "pop", "result": "b"}"#;
    let part = minimal(&read(text), Spec::Stack, None, Limits::NONE).expect("known methods").expect("not linearizable");
    let expected = "\
2  push(b)    ├─┤
2  pop() → b      ├───┤
3  pop() → b        ├───┤
";
    assert_eq!(picture(&part), expected);
}

#[test]
fn sequential_runs_are_a_specification() {
    let call = |at: u64, method: &str, args: &str, result: &str| {
        let end = at + 1;
        format!(
            r#"{{"process": 1, "call": {at}, "return": {end}, "method": "{method}", "args": [{args}], "result": {result}}}"#
        )
    };
    let overlapping = r#"{"process": 1, "call": 1, "return": 5, "method": "put", "args": [1]}
{"process": 2, "call": 2, "return": 6, "method": "put", "args": [2]}"#;
    let mut spec = Sequential::default();
    for [first, second] in [["1", "2"], ["2", "1"]] {
        let order = [("put", first, "null"), ("put", second, "null"), ("take", "", first), ("take", "", second)];
        let lines: Vec<String> =
            order.iter().zip(0..).map(|((method, args, result), at)| call(10 * at, method, args, result)).collect();
        spec.add(&read(&lines.join("\n"))).expect("the run is sequential");
    }
    let concurrent = |first: &str, second: &str| {
        let takes = [overlapping.to_string(), call(10, "take", "", first), call(20, "take", "", second)];
        spec.check(&read(&takes.join("\n")), Limits::NONE).verdict
    };
    assert_eq!(concurrent("1", "2"), Verdict::Linearizable);
    assert_eq!(concurrent("2", "1"), Verdict::Linearizable);
    assert_eq!(concurrent("2", "2"), Verdict::NotLinearizable);
    assert_eq!(spec.check(&read(&call(1, "take", "", "null")), Limits::NONE).verdict, Verdict::Unknown);
    assert!(spec.add(&read(overlapping)).is_err());
}
