//! Robot files with macros: what they become, and that none is too much.

use std::collections::BTreeMap;

use legwork_mechanics::{
    Base, Expanded, Model, Options, XacroError, XacroOptions, expand_xacro, is_xacro,
};

/// Expands a file among others, with arguments.
fn expand_with(
    text: &str,
    files: &[(&str, &str)],
    arguments: &[(&str, &str)],
) -> Result<Expanded, XacroError> {
    let arguments: BTreeMap<String, String> =
        arguments.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
    let read = |name: &str, _: &str| {
        let found = files.iter().find(|(file, _)| *file == name);
        let text = found.ok_or_else(|| format!("no file `{name}`"))?.1;
        Ok((name.to_owned(), text.to_owned()))
    };
    expand_xacro(text, &XacroOptions { file: "main.xacro", arguments: &arguments, read: &read })
}

/// The lines of what the content of a robot becomes.
fn lines(content: &str) -> Vec<String> {
    let text = format!("<robot name=\"r\" xmlns:xacro=\"x\">\n{content}</robot>");
    let expanded = expand_with(&text, &[], &[]).unwrap_or_else(|error| panic!("{error}"));
    let all = expanded.text.lines().map(str::to_owned);
    all.filter(|line| !line.contains("robot")).collect()
}

/// The value of an expression.
fn value(expression: &str) -> String {
    let content = format!("<a v=\"${{{}}}\"/>", expression.replace('<', "&lt;").replace('"', "'"));
    let line = lines(&content).remove(0);
    line.trim_start_matches("<a v=\"").trim_end_matches("\"/>").to_owned()
}

/// What Python prints for them.
#[test]
fn expressions_have_the_values_of_python() {
    for (expression, expected) in [
        ("1 + 2 * 3", "7"),
        ("(1 + 2) * 3", "9"),
        ("7 / 2", "3.5"),
        ("7 // 2", "3"),
        ("-7 // 2", "-4"),
        ("-7 % 3", "2"),
        ("7.5 // 2", "3.0"),
        ("2 ** 10", "1024"),
        ("2 ** -1", "0.5"),
        ("-2 ** 2", "-4"),
        ("2 ** 3 ** 2", "512"),
        ("0.1 + 0.2", "0.30000000000000004"),
        ("1e3", "1000.0"),
        (".5", "0.5"),
        ("pi", "3.141592653589793"),
        ("radians(180) == pi", "True"),
        ("round(2.5)", "2"),
        ("round(2.675, 2)", "2.67"),
        ("floor(-1.5)", "-2"),
        ("max(1, 2.5, 2)", "2.5"),
        ("min([3, 1, 2])", "1"),
        ("sum([1, 2, 3])", "6"),
        ("len('abc')", "3"),
        ("'a' + 'b' * 3", "abbb"),
        ("'left' if 1 < 2 else 'right'", "left"),
        ("1 < 2 <= 2 and not 3 == 4", "True"),
        ("'x' in 'axb' and 4 not in [1, 2]", "True"),
        ("[1, 2, 3][-1]", "3"),
        ("{'a': 1, 'b': 2}['b']", "2"),
        ("{'a': {'b': 5}}['a']['b']", "5"),
        ("dict(a=1, b='x')['b']", "x"),
        ("'left_arm'.split('_')[1]", "arm"),
        ("'left'.startswith('le')", "True"),
        ("str(1.0) + str(2)", "1.02"),
        ("int('12') + float('0.5')", "12.5"),
        ("None", "None"),
        ("sin(pi/6) - 0.5 < 1e-15", "True"),
        ("math.sqrt(16)", "4.0"),
        ("[1, 'a', 2.0]", "[1, 'a', 2.0]"),
        ("sorted([3, 1, 2])", "[1, 2, 3]"),
        ("list(range(3))", "[0, 1, 2]"),
        ("'left_arm'[5:]", "arm"),
        ("'abc'[1:2] + 'abc'[5:]", "b"),
        ("[1, 2, 3][:2] + [1, 2, 3][-2:] + [1, 2, 3][1:1]", "[1, 2, 2, 3]"),
        ("[2 * x for x in [1, 2, 3] if x > 1]", "[4, 6]"),
        ("[a + b for a, b in [(1, 2), (3, 4)]]", "[3, 7]"),
        ("[x for x in 'ab']", "['a', 'b']"),
        ("'leg_%02d' % 3 + '%04d' % -7", "leg_03-007"),
        ("'%s-%.3f|%5d|%-4d|%+d' % ('a', 0.5, 7, 8, 9)", "a-0.500|    7|8   |+9"),
        ("'50%%' % ()", "50%"),
        ("None is None and 1 is not None", "True"),
    ] {
        assert_eq!(value(expression), expected, "{expression}");
    }
}

#[test]
fn properties_are_evaluated_where_they_are_when_they_are_used() {
    let expanded = lines(
        r#"<xacro:property name="a" value="${2*b}"/>
        <xacro:property name="b" value="3"/>
        <xacro:property name="text" value="007_x"/>
        <xacro:property name="quoted" value="'5'"/>
        <xacro:property name="b" default="9"/>
        <xacro:property name="yes" value="true"/>
        <p a="${a}" sum="${a + 1}" text="${text}" quoted="${quoted + 'x'}" dollar="$${a} $5"/>
        <xacro:if value="${yes}"><on/></xacro:if>
        <xacro:unless value="${yes}"><off/></xacro:unless>"#,
    );
    assert_eq!(
        expanded,
        [r#"<p a="6" sum="7" text="007_x" quoted="5x" dollar="${a} $5"/>"#, "<on/>"]
    );
}

#[test]
fn macros_take_parameters_defaults_and_blocks() {
    let expanded = lines(
        r#"<xacro:property name="mass" value="2"/>
        <xacro:property name="outer" value="o"/>
        <xacro:macro name="leg" params="prefix mass:=${1+2} side:='a b' outer:=^ none:=^|n *origin **rest">
          <link name="${prefix}_leg" mass="${mass}" side="${side}" outer="${outer}" none="${none}">
            <xacro:insert_block name="origin"/><xacro:insert_block name="rest"/>
          </link>
        </xacro:macro>
        <xacro:leg prefix="FL"><origin xyz="${mass} 0 0"/><all><x/><y/></all></xacro:leg>
        <xacro:call macro="leg" prefix="FR" mass="7"><origin/><all/></xacro:call>
        <after mass="${mass}"/>"#,
    );
    assert_eq!(
        expanded,
        [
            r#"<link name="FL_leg" mass="3" side="a b" outer="o" none="n">"#,
            r#"<origin xyz="2 0 0"/>"#,
            "<x/>",
            "<y/>",
            "</link>",
            r#"<link name="FR_leg" mass="7" side="a b" outer="o" none="n">"#,
            "<origin/>",
            "</link>",
            r#"<after mass="2"/>"#,
        ]
    );
}

/// A macro that calls itself until a count is used up, and names that leave it.
#[test]
fn macros_call_themselves_and_scopes_end_with_them() {
    let expanded = lines(
        r#"<xacro:macro name="chain" params="n">
          <xacro:property name="inner" value="${n}"/>
          <xacro:property name="last" value="${n}" scope="global"/>
          <link name="l${n}"/>
          <xacro:if value="${n > 1}"><xacro:chain n="${n - 1}"/></xacro:if>
        </xacro:macro>
        <xacro:property name="inner" value="outside"/>
        <xacro:chain n="3"/>
        <end inner="${inner}" last="${last}"/>
        <xacro:property name="block"><b v="${inner}"/></xacro:property>
        <xacro:insert_block name="block"/>
        <xacro:element xacro:name="e${1}" k="v"><xacro:attribute name="m" value="${1+1}"/></xacro:element>"#,
    );
    assert_eq!(
        expanded,
        [
            r#"<link name="l3"/>"#,
            r#"<link name="l2"/>"#,
            r#"<link name="l1"/>"#,
            r#"<end inner="outside" last="1"/>"#,
            r#"<b v="outside"/>"#,
            r#"<e1 k="v" m="2"/>"#,
        ]
    );
}

#[test]
fn files_are_included_with_arguments_and_namespaces() {
    let part = r#"<robot xmlns:xacro="x">
        <xacro:property name="size" value="0.5"/>
        <xacro:macro name="wheel" params="n"><link name="wheel_${n}" r="${size}"/></xacro:macro>
        <link name="from_part"/>
        </robot>"#;
    let main = r#"<robot name="$(arg name)" xmlns:xacro="x">
        <xacro:arg name="name" default="cart"/>
        <xacro:arg name="n" default="1"/>
        <xacro:include filename="$(find cart_description)/part.xacro" ns="part"/>
        <xacro:include filename="missing.xacro" optional="true"/>
        <xacro:part.wheel n="$(arg n)"/>
        <mesh filename="package://cart/$(arg name).stl" size="${part.size * 2}"/>
        </robot>"#;
    // The name of the root is read before its arguments, as there is nothing before it.
    let main = main.replace("name=\"$(arg name)\" xmlns", "name=\"r\" xmlns");
    let files = [("package://cart_description/part.xacro", part)];
    let expanded = expand_with(&main, &files, &[("n", "5")]).unwrap();
    let lines: Vec<&str> = expanded.text.lines().collect();
    assert_eq!(
        lines[1..4],
        [
            r#"<link name="from_part"/>"#,
            r#"<link name="wheel_5" r="0.5"/>"#,
            r#"<mesh filename="package://cart/cart.stl" size="1.0"/>"#,
        ]
    );
    assert_eq!(expanded.arguments, ["n", "name"]);
    assert_eq!(expanded.files, ["main.xacro", "package://cart_description/part.xacro"]);
    // Lines are those of the elements, wherever they were written.
    assert_eq!(expanded.origin(2), ("package://cart_description/part.xacro", 4));
    assert_eq!(expanded.origin(3), ("package://cart_description/part.xacro", 3));
    assert_eq!(expanded.origin(4), ("main.xacro", 7));
}

/// The text that comes out is a robot.
/// As xacro 2.1.1 has it: `$(arg …)` inside of an expression is put in before it is evaluated.
#[test]
fn arguments_stand_in_expressions_and_are_known_before_they_are_declared() {
    let text = r#"<robot name="$(arg name)_r" xmlns:xacro="x">
        <xacro:arg name="name" default="none"/>
        <xacro:arg name="side" default="left"/>
        <xacro:arg name="n" default="3"/>
        <xacro:if value="${'$(arg side)' == 'left'}"><left/></xacro:if>
        <xacro:if value="${[]}"><never/></xacro:if>
        <a v="${'$(arg side)'.replace('le', 'x')}" n="${$(arg n)*2}" m="${xacro.arg('side')}"/>
        <b v="$(eval n + 1)" w="$(eval arg('side') + '_arm')"/>
    </robot>"#;
    let lines = |arguments: &[(&str, &str)]| -> Vec<String> {
        let expanded = expand_with(text, &[], arguments).unwrap_or_else(|error| panic!("{error}"));
        expanded.text.lines().map(str::to_owned).collect()
    };
    assert_eq!(
        lines(&[("name", "ur")])[..4],
        [
            r#"<robot name="ur_r">"#,
            "<left/>",
            r#"<a v="xft" n="6" m="left"/>"#,
            r#"<b v="4" w="left_arm"/>"#
        ]
    );
    let right = lines(&[("name", "ur"), ("side", "right"), ("n", "5")]);
    assert_eq!(right[1..3], [r#"<a v="right" n="10" m="right"/>"#, r#"<b v="6" w="right_arm"/>"#]);
}

/// A file that declares the language has expressions, with no element of it too.
#[test]
fn expressions_alone_make_a_file_one_with_macros() {
    assert!(is_xacro(r#"<robot name="r${1+1}" xmlns:xacro="http://ros.org/wiki/xacro"/>"#));
    assert!(!is_xacro(r#"<robot name="r" xmlns:xacro="http://ros.org/wiki/xacro"/>"#));
    assert!(!is_xacro(r#"<robot name="r${1+1}"/>"#));
}

/// As xacro 2.1.1 with PyYAML 6 reads it, but for `1e-3`, which is a text there.
#[test]
fn yaml_files_are_dictionaries() {
    let yaml = "limits:
  pan: {min: !degrees -360.0, max: !degrees 2*180, has: true, effort: 150}
  lift: &lift
    min: !radians -pi/2
    name: \"12\"
    none: ~
    list: [1, 2.5, x, 1e-3, 0x10, 1_000]
  wrist:
    <<: *lift
    name: other
on: yes
";
    let value = |expression: &str| {
        let text = format!(
            "<robot name=\"r\" xmlns:xacro=\"x\">\n<xacro:property name=\"y\" \
             value=\"${{xacro.load_yaml('l.yaml')}}\"/><a v=\"${{{expression}}}\"/></robot>"
        );
        let expanded = expand_with(&text, &[("l.yaml", yaml)], &[]);
        let expanded = expanded.unwrap_or_else(|error| panic!("{expression}: {error}"));
        assert_eq!(expanded.files, ["main.xacro", "l.yaml"]);
        let line = expanded.text.lines().nth(1).unwrap_or_default().to_owned();
        line.trim_start_matches("<a v=\"").trim_end_matches("\"/>").to_owned()
    };
    for (expression, expected) in [
        ("y['limits']['pan']['max']", "6.283185307179586"),
        (
            "y.limits.pan",
            "{'min': -6.283185307179586, 'max': 6.283185307179586, 'has': True, 'effort': 150}",
        ),
        ("y['limits'].lift.list", "[1, 2.5, 'x', 0.001, 16, 1000]"),
        (
            "[y.limits.wrist[k] for k in ['min', 'name', 'none']]",
            "[-1.5707963267948966, 'other', None]",
        ),
        ("list(y.keys())", "['limits', True]"),
    ] {
        assert_eq!(value(expression), expected, "{expression}");
    }
}

/// What is wrong in a file that is loaded, and what it may not do.
#[test]
fn mistakes_in_yaml_files_are_told_with_their_line() {
    // Lists that hold the last one nine times.
    let mut doubling = String::from("a0: &a0 [x]\n");
    for i in 1..30 {
        let last = format!("*a{}, ", i - 1).repeat(9);
        doubling += &format!("a{i}: &a{i} [{last}]\n");
    }
    let deep = "[".repeat(100_000);
    for (yaml, words) in [
        ("a: [1, 2", "l.yaml: "),
        ("a: 1\nb: !degrees x y", "l.yaml: line 2: "),
        ("a: !degrees load_yaml('l.yaml')['a']", "loaded from within"),
        ("a: !python/object:os.system x", "is not known"),
        ("a: 1\n---\nb: 2", "one document"),
        ("a: &a [*a]", "l.yaml: "),
        ("KEY=hunter2", "expected a list or a dictionary"),
        (&deep, "l.yaml: "),
        (&doubling, "too long"),
    ] {
        let text =
            "<robot name=\"r\" xmlns:xacro=\"x\">\n<a v=\"${load_yaml('l.yaml')}\"/></robot>";
        match expand_with(text, &[("l.yaml", yaml)], &[]) {
            Ok(found) => panic!("{yaml:.60}: no error\n{:.200}", found.text),
            Err(error) => {
                assert!(error.problem.contains(words), "{error}\nexpected: {words}");
                assert_eq!(error.line, 2, "{error}");
            }
        }
    }
}

#[test]
fn an_expanded_file_is_a_robot() {
    let text = r#"<robot name="arm" xmlns:xacro="http://www.ros.org/wiki/xacro">
        <xacro:macro name="segment" params="i parent length:=0.3">
          <link name="link${i}"><inertial><origin xyz="0 0 ${length/2}"/><mass value="1"/>
            <inertia ixx="${length**2/12}" iyy="${length**2/12}" izz="0.001" ixy="0" ixz="0" iyz="0"/>
          </inertial></link>
          <joint name="joint${i}" type="continuous"><parent link="${parent}"/><child link="link${i}"/>
            <origin xyz="0 0 ${length}"/><axis xyz="0 1 0"/></joint>
        </xacro:macro>
        <link name="base"/>
        <xacro:segment i="1" parent="base"/><xacro:segment i="2" parent="link1"/>
      </robot>"#;
    assert!(is_xacro(text));
    let expanded = expand_with(text, &[], &[]).unwrap();
    assert!(!is_xacro(&expanded.text));
    let (model, warnings) =
        Model::from_urdf_text(&expanded.text, &Options::new(Base::Fixed)).unwrap();
    assert!(warnings.is_empty(), "{warnings:?}");
    assert_eq!((model.joints().len(), model.total_mass()), (2, 2.0));
}

/// Each bad content, the line of its error and words of the message.
#[test]
fn mistakes_are_told_with_their_line() {
    let deep = format!("<a v=\"${{{}1{}}}\"/>", "(".repeat(100), ")".repeat(100));
    let long = format!("<a v=\"${{1{}}}\"/>", "+1".repeat(5000));
    for (content, line, words) in [
        ("<a v=\"${b}\"/>", 2, "nothing is named `b`"),
        ("\n<a v=\"${1 +}\"/>", 3, "ends early"),
        ("<a v=\"${1\"/>", 2, "expected `}`"),
        ("<a v=\"${1 / 0}\"/>", 2, "division by zero"),
        ("<a v=\"${sqrt(-1)}\"/>", 2, "no value"),
        ("<a v=\"${'a' - 1}\"/>", 2, "`-` of a text and a number"),
        ("<a v=\"${[1][3]}\"/>", 2, "no entry 3 of 1"),
        ("<a v=\"${'x' * 10**9}\"/>", 2, "more than"),
        ("<a v=\"${__import__('os')}\"/>", 2, "nothing is named `__import__`"),
        ("<a v=\"$(env HOME)\"/>", 2, "the environment is not read"),
        ("<a v=\"$(arg x)\"/>", 2, "no argument is named `x`"),
        ("<xacro:arg name=\"x\"/>", 2, "has no default"),
        ("<xacro:leg/>", 2, "no macro is named `leg`"),
        ("<xacro:if value=\"maybe\"/>", 2, "expected true or false"),
        ("<xacro:macro name=\"m\" params=\"a\"/><xacro:m/>", 2, "parameter `a` is missing"),
        ("<xacro:macro name=\"m\"/><xacro:m b=\"1\"/>", 2, "has no parameter `b`"),
        ("<xacro:macro name=\"m\" params=\"*b\"/><xacro:m/>", 2, "block `b` is missing"),
        ("<xacro:include filename=\"x\"/>", 2, "no file `x`"),
        ("<xacro:property name=\"a\" value=\"${a}\"/><a v=\"${a}\"/>", 2, "depends on itself"),
        ("<xacro:macro name=\"m\"><xacro:m/></xacro:macro><xacro:m/>", 2, "too deep"),
        ("<xacro:macro name=\"m\"><xacro:m/><xacro:m/></xacro:macro>\n<xacro:m/>", 2, "too deep"),
        (&deep, 2, "nested deeper"),
        (&long, 2, "an expression of more than"),
    ] {
        let text = format!("<robot name=\"r\" xmlns:xacro=\"x\">\n{content}</robot>");
        match expand_with(&text, &[], &[]) {
            Ok(found) => panic!("{content}: no error\n{}", found.text),
            Err(error) => {
                assert!(error.problem.contains(words), "{error}\nexpected: {words}");
                assert_eq!(error.line, line, "{error}");
            }
        }
    }
}

/// A few lines must not become more than there is room for.
#[test]
fn what_grows_without_bound_is_stopped() {
    // Each macro inserts the last one twice: 2⁴⁰ elements.
    let mut doubling = String::from("<xacro:macro name=\"m0\"><a/></xacro:macro>\n");
    for i in 1..=40 {
        let last = i - 1;
        doubling +=
            &format!("<xacro:macro name=\"m{i}\"><xacro:m{last}/><xacro:m{last}/></xacro:macro>\n");
    }
    doubling += "<xacro:m40/>";
    // Blocks that hold the last one twice.
    let mut blocks = String::from("<xacro:property name=\"b0\"><a/></xacro:property>\n");
    for i in 1..=40 {
        let insert = format!("<xacro:insert_block name=\"b{}\"/>", i - 1);
        blocks += &format!("<xacro:property name=\"b{i}\">{insert}{insert}</xacro:property>\n");
    }
    blocks += "<xacro:insert_block name=\"b40\"/>";
    // Lists that hold the last one twice, compared.
    let mut lists = String::from("<xacro:property name=\"l0\" value=\"${[1]}\"/>\n");
    for i in 1..=40 {
        let last = i - 1;
        lists += &format!("<xacro:property name=\"l{i}\" value=\"${{[l{last}, l{last}]}}\"/>\n");
    }
    let compared = format!("{lists}<a v=\"${{l40 == l40}}\"/>");
    let printed = format!("{lists}<a v=\"${{l40}}\"/>");
    // Texts that double.
    let mut texts = String::from("<xacro:property name=\"t0\" value=\"abcdefgh\"/>\n");
    for i in 1..=40 {
        let last = i - 1;
        texts += &format!("<xacro:property name=\"t{i}\" value=\"${{t{last} + t{last}}}\"/>\n");
    }
    texts += "<a v=\"${t40}\"/>";
    for content in [doubling, blocks, compared, printed, texts] {
        let text = format!("<robot name=\"r\" xmlns:xacro=\"x\">\n{content}</robot>");
        let error = expand_with(&text, &[], &[]).err();
        assert!(error.is_some(), "{}", &content[content.len() - 60..]);
    }
    // A file that includes itself.
    let own = "<robot xmlns:xacro=\"x\"><xacro:include filename=\"own\"/></robot>";
    let error = expand_with(own, &[("own", own)], &[]).unwrap_err();
    assert!(error.problem.contains("too deep"), "{error}");
}
